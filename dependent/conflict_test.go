// SPDX-License-Identifier: Apache-2.0

package dependent_test

import (
	"maps"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/espalier-dev/espalier/workflow"
)

func TestWithoutForce(t *testing.T) { // R34 C9
	w, o := newWorld(t), &optional{settings: settings{data: map[string]string{"a": "1"}}}
	runner := w.runner(t, o.with(func(n settingsNode) { n.Force(false) }))
	row, sent := w.reconcile(t, runner)
	wantRow(t, row, workflow.Ready, "")
	wantSent(t, sent, "apply configmaps")
	live := read[corev1.ConfigMap](t, w, "settings")
	w.patch(t, live, `{"data":{"a":"theirs","secret-value":"s3cr3t"}}`)
	row, sent = w.reconcile(t, runner)
	wantRow(t, row, workflow.Failed, "Conflict")
	wantSent(t, sent, "apply configmaps")
	want := `applying ConfigMap "settings": others manage what is to be changed: .data.a of "stranger": ` +
		`leave these fields out, or declare the node with Force(true)`
	if row.Message != want {
		t.Errorf("the message is\n%q, want\n%q", row.Message, want)
	}
	for range 3 { // it isn't tried again at once
		_, sent = w.reconcile(t, runner)
		wantSent(t, sent)
	}
	o.data["a"] = "theirs" // giving in is no conflict
	row, sent = w.reconcile(t, runner)
	wantRow(t, row, workflow.Ready, "")
	wantSent(t, sent, "apply configmaps")
	if now := read[corev1.ConfigMap](t, w, "settings"); !maps.Equal(now.Data, map[string]string{"a": "theirs", "secret-value": "s3cr3t"}) {
		t.Errorf("the data is %v", now.Data)
	}
}

// By default what others take is taken back.
func TestForce(t *testing.T) { // R34
	w, o := newWorld(t), &optional{settings: settings{data: map[string]string{"a": "1"}}}
	runner := w.runner(t, o.with(func(settingsNode) {}))
	w.reconcile(t, runner)
	theirs := &corev1.ConfigMap{}
	theirs.Name, theirs.Namespace = "settings", w.namespace
	body := `{"apiVersion":"v1","kind":"ConfigMap","data":{"a":"theirs"}}`
	if err := w.others.Patch(t.Context(), theirs, client.RawPatch(types.ApplyPatchType, []byte(body)), client.ForceOwnership); err != nil {
		t.Fatal(err)
	}
	w.sees(t, theirs)
	row, sent := w.reconcile(t, runner)
	wantRow(t, row, workflow.Ready, "")
	wantSent(t, sent, "apply configmaps")
	if now := read[corev1.ConfigMap](t, w, "settings"); now.Data["a"] != "1" {
		t.Errorf("the data is %v", now.Data)
	}
}

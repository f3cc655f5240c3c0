// SPDX-License-Identifier: Apache-2.0

package dependent_test

import (
	"maps"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/espalier-dev/espalier/dependent"
	"github.com/espalier-dev/espalier/workflow"
)

func TestCreateOnly(t *testing.T) { // R47 B4 B6
	w, o := newWorld(t), &optional{settings: settings{data: map[string]string{"a": "1"}}}
	policy := func(n settingsNode) { n.CreateOnly() }
	runner := w.runner(t, o.with(policy))
	row, sent := w.reconcile(t, runner)
	wantRow(t, row, workflow.Ready, "")
	wantSent(t, sent, "apply configmaps")
	o.data["a"] = "2"
	live := read[corev1.ConfigMap](t, w, "settings")
	w.sees(t, live)
	w.patch(t, live, `{"data":{"b":"theirs"}}`)
	next := w.restarted(t)
	nextRunner := next.runner(t, o.with(policy))
	for _, operator := range []func() (workflow.NodeResult, map[string]int){
		func() (workflow.NodeResult, map[string]int) { return w.reconcile(t, runner) },
		func() (workflow.NodeResult, map[string]int) { return next.reconcile(t, nextRunner) },
	} {
		row, sent = operator()
		wantRow(t, row, workflow.Ready, "")
		wantSent(t, sent)
	}
	if err := w.others.Delete(t.Context(), live); err != nil {
		t.Fatal(err)
	}
	next.misses(t, live)
	row, sent = next.reconcile(t, nextRunner)
	wantRow(t, row, workflow.Ready, "")
	wantSent(t, sent, "apply configmaps")
	again := read[corev1.ConfigMap](t, w, "settings")
	if !maps.Equal(again.Data, map[string]string{"a": "2"}) {
		t.Errorf("the data is %v", again.Data)
	}
	next.sees(t, again)
	o.unwanted = true
	_, sent = next.reconcile(t, nextRunner)
	wantSent(t, sent, "delete configmaps")
}

// What is adopted with CreateOnly, or taken over, keeps what is in it, whoever has written it.
func TestCreateOnlyTakesOver(t *testing.T) { // R34 R47
	tests := []struct {
		name   string
		make   func(*testing.T, *world) *corev1.ConfigMap
		refine func(settingsNode)
	}{
		{
			"nobody's", func(t *testing.T, w *world) *corev1.ConfigMap { t.Helper(); return theirs(t, w, nil) },
			func(n settingsNode) { n.CreateOnly().Adopt(dependent.IfUnowned) },
		},
		{"of a former name", func(t *testing.T, w *world) *corev1.ConfigMap {
			t.Helper()
			w.reconcile(t, w.runner(t, func(b builder) {
				dependent.Typed(b, "former", func(run) (*corev1.ConfigMap, error) {
					obj := configMap("", "settings")
					obj.Data = map[string]string{"a": "theirs", "b": "theirs"}
					return obj, nil
				})
			}))
			return read[corev1.ConfigMap](t, w, "settings")
		}, func(n settingsNode) { n.CreateOnly().FormerNames("former") }},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w, o := newWorld(t), &optional{settings: settings{data: map[string]string{"a": "1"}}}
			before := test.make(t, w)
			w = w.restarted(t)
			runner := w.runner(t, o.with(test.refine))
			row, _ := w.reconcile(t, runner)
			wantRow(t, row, workflow.Ready, "")
			now := read[corev1.ConfigMap](t, w, "settings")
			if now.UID != before.UID || !maps.Equal(now.Data, map[string]string{"a": "theirs", "b": "theirs"}) {
				t.Errorf("the data is %v", now.Data)
			}
			if now.Labels["espalier.dev/node"] != "node" {
				t.Errorf("the labels are %v", now.Labels)
			}
			w.sees(t, now)
			_, sent := w.reconcile(t, runner)
			wantSent(t, sent)
		})
	}
}

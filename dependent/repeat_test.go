// SPDX-License-Identifier: Apache-2.0

package dependent_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/espalier-dev/espalier/dependent"
	v1 "github.com/espalier-dev/espalier/examples/webapp/api/v1"
	"github.com/espalier-dev/espalier/workflow"
)

// Objects of a repeated node are told apart by their keys, whatever these are, also by an operator that has just
// started.
func TestRepeatedNode(t *testing.T) { // R36 R40 R41
	w := newWorld(t)
	long := strings.Repeat("a-very-long-key-", 8)
	keys := []string{"a", "b", "team/app", "Ü ", long}
	declare := func(b builder) {
		workflow.Repeat(b, "part", func(run) ([]string, error) { return keys, nil },
			func(b builder, key workflow.Key[*v1.WebApp, string]) any {
				return dependent.Typed(b, "settings", func(r run) (*corev1.ConfigMap, error) {
					name := dependent.Name(r.Primary(), "settings", key.Of(r))
					return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: map[string]string{"key": key.Of(r)}}, nil
				})
			})
	}
	run := func(w *world, what, want string) {
		t.Helper()
		var result *workflow.Result
		runner := w.runner(t, declare)
		sent := w.sends(func() { result = runner.Reconcile(t.Context(), of(w.primary)) })
		if result.Err() != nil || fmt.Sprint(sent) != want {
			t.Errorf("%s: sent %v, want %s: %v", what, sent, want, result.Err())
		}
		var list corev1.ConfigMapList
		if err := w.others.List(t.Context(), &list, client.InNamespace(w.namespace), client.HasLabels{"espalier.dev/key"}); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, item := range list.Items {
			got = append(got, item.Data["key"])
		}
		if slices.Sort(got); !slices.Equal(got, slices.Sorted(slices.Values(keys))) {
			t.Errorf("%s: there are %q, want %q", what, got, keys)
		}
	}
	run(w, "created", "map[apply configmaps:5]")
	run(w, "at rest", "map[]")
	keys = []string{"b", "c", "Ü "}
	w = w.restarted(t)
	run(w, "three keys vanished while it was down", "map[apply configmaps:1 delete configmaps:3]")
	run(w, "and rest", "map[]")
	keys = nil
	result := w.runner(t, declare, workflow.Options{OrderedDeletion: true}).Cleanup(t.Context(), of(w.primary))
	if len(result.Nodes) != 4 {
		t.Errorf("a cleanup finds what exists: %v", result.Nodes)
	}
}

// Two keys that want one object: the first that gets it keeps it.
func TestTwoKeysOneName(t *testing.T) { // R43
	w := newWorld(t)
	runner := w.runner(t, func(b builder) {
		workflow.Repeat(b, "part", func(run) ([]string, error) { return []string{"a", "b"}, nil },
			func(b builder, key workflow.Key[*v1.WebApp, string]) any {
				return dependent.Typed(b, "settings", func(r run) (*corev1.ConfigMap, error) {
					return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "one"}, Data: map[string]string{"by": key.Of(r)}}, nil
				})
			})
	}, workflow.Options{MaxConcurrent: 1})
	for i := range 3 {
		subject := of(w.primary)
		subject.Revision += int64(i)
		result := runner.Reconcile(t.Context(), subject)
		if got := read[corev1.ConfigMap](t, w, "one").Data["by"]; got != "a" {
			t.Errorf("run %d: it is of %q", i, got)
		}
		row := result.Node("part-settings", "b")
		if wantRow(t, row, workflow.Failed, "ClaimedBy"); !strings.Contains(row.Message, `node "part-settings[a]"`) {
			t.Errorf("run %d: %s", i, row.Message)
		}
	}
}

// SPDX-License-Identifier: Apache-2.0

package dependent_test

import (
	"maps"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/espalier-dev/espalier/dependent"
	"github.com/espalier-dev/espalier/workflow"
)

// An operator that used CreateOrUpdate is replaced: what it wrote, and nobody wants any more, goes.
func TestFormerManagers(t *testing.T) { // R46 E5
	apply := func(manager string) func(*testing.T, *world) {
		return func(t *testing.T, w *world) {
			t.Helper()
			obj := configMap(w.namespace, "settings")
			body := encoded(t, map[string]any{
				"apiVersion": "v1", "kind": "ConfigMap", "data": map[string]any{"a": "0", "old": "0"},
				"metadata": map[string]any{"name": "settings", "ownerReferences": []metav1.OwnerReference{
					*metav1.NewControllerRef(w.primary, primaryKind()),
				}},
			})
			if err := w.others.Patch(t.Context(), obj, client.RawPatch(types.ApplyPatchType, []byte(body)), client.FieldOwner(manager)); err != nil {
				t.Fatal(err)
			}
		}
	}
	update := func(manager string) func(*testing.T, *world) {
		return func(t *testing.T, w *world) {
			t.Helper()
			obj, as := configMap(w.namespace, "settings"), client.WithFieldOwner(w.others, manager)
			if _, err := controllerutil.CreateOrUpdate(t.Context(), as, obj, func() error {
				obj.Data = map[string]string{"a": "0", "old": "0"}
				return controllerutil.SetControllerReference(w.primary, obj, as.Scheme())
			}); err != nil {
				t.Fatal(err)
			}
		}
	}
	tests := []struct {
		name  string
		write func(*testing.T, *world)
		sent  []string
	}{
		{"an update by our own name", update(operator), []string{"patch configmaps", "apply configmaps"}},
		{"an apply by our own name", apply(operator), []string{"apply configmaps"}},
		{"an update by a former name", update("old-operator"), []string{"patch configmaps", "apply configmaps"}},
		{"an apply by a former name", apply("old-operator"), []string{"patch configmaps", "apply configmaps"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w, o := newWorld(t), &optional{settings: settings{data: map[string]string{"a": "1"}}}
			test.write(t, w)
			before := read[corev1.ConfigMap](t, w, "settings")
			w.patch(t, before.DeepCopy(), `{"data":{"b":"theirs"}}`)
			var err error
			w = w.restarted(t)
			w.engine, err = dependent.NewEngine(w.cluster, dependent.EngineOptions{
				FieldManager: operator, Primary: primaryKind(), FormerManagers: []string{"old-operator"},
			})
			if err != nil {
				t.Fatal(err)
			}
			runner := w.runner(t, o.with(func(settingsNode) {}))
			row, sent := w.reconcile(t, runner)
			wantRow(t, row, workflow.Ready, "")
			wantSent(t, sent, test.sent...)
			now := read[corev1.ConfigMap](t, w, "settings")
			if want := map[string]string{"a": "1", "b": "theirs"}; now.UID != before.UID || !maps.Equal(now.Data, want) {
				t.Errorf("the data is %v, want %v", now.Data, want)
			}
			for _, m := range now.ManagedFields {
				if m.Manager != stranger && (m.Manager != operator || m.Operation != metav1.ManagedFieldsOperationApply) {
					t.Errorf("%s still manages %s", m.Manager, m.FieldsV1)
				}
			}
			w.sees(t, now)
			_, sent = w.reconcile(t, runner)
			wantSent(t, sent)
		})
	}
}

// The old operator still runs while the new one does: its fields are taken from it again.
func TestFormerManagerComesBack(t *testing.T) { // R46
	w, o := newWorld(t), &optional{settings: settings{data: map[string]string{"a": "1"}}}
	runner := w.runner(t, o.with(func(settingsNode) {}))
	w.reconcile(t, runner)
	live := read[corev1.ConfigMap](t, w, "settings")
	live.Data["old"] = "1"
	if err := w.others.Update(t.Context(), live, client.FieldOwner(operator)); err != nil {
		t.Fatal(err)
	}
	w.sees(t, live)
	row, sent := w.reconcile(t, runner)
	wantRow(t, row, workflow.Ready, "")
	wantSent(t, sent, "patch configmaps", "apply configmaps")
	if now := read[corev1.ConfigMap](t, w, "settings"); len(now.Data) != 1 {
		t.Errorf("the data is %v", now.Data)
	}
	_, sent = w.reconcile(t, runner)
	wantSent(t, sent)
}

// SPDX-License-Identifier: Apache-2.0

package dependent_test

import (
	"context"
	"maps"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/espalier-dev/espalier/dependent"
	"github.com/espalier-dev/espalier/workflow"
)

// A definition and an object of its kind, in one graph: the object waits until it is served, then one write each, and
// none at rest or after a restart. The kind has no Go type and no schema.
func TestDefinitionAndItsObject(t *testing.T) { // R31 R39 D6 K2 K3
	w, kind := newWorld(t), newVisitor()
	t.Cleanup(func() { kind.delete(t, w) })
	spec := map[string]any{"nights": int64(3), "ratio": 0.5, "tags": []any{"a", "b"}, "deep": map[string]any{"x": nil, "y": "z"}}
	declare := func(b builder) {
		definition := dependent.Typed(b, "definition", func(run) (*apiextensionsv1.CustomResourceDefinition, error) {
			crd := &apiextensionsv1.CustomResourceDefinition{}
			return crd, runtime.DefaultUnstructuredConverter.FromUnstructured(kind.crd(t).Object, crd)
		})
		dependent.Unstructured(b, kind.gvk, "node", func(run) (*unstructured.Unstructured, error) {
			return &unstructured.Unstructured{Object: map[string]any{
				"metadata": map[string]any{"name": "guest"}, "spec": runtime.DeepCopyJSON(map[string]any{"s": spec})["s"],
			}}, nil
		}).DependsOn(definition)
	}
	runner := w.runner(t, declare)
	w.watched(t)
	settles := func() {
		t.Helper()
		var row workflow.NodeResult
		w.waits(t, func(context.Context) bool {
			row, _ = w.reconcile(t, runner)
			return row.State == workflow.Ready
		}, "it doesn't become ready: %+v", &row)
	}
	settles()
	live := &unstructured.Unstructured{}
	live.SetGroupVersionKind(kind.gvk)
	look := func() {
		t.Helper()
		if err := w.others.Get(t.Context(), client.ObjectKey{Namespace: w.namespace, Name: "guest"}, live); err != nil {
			t.Fatal(err)
		}
		w.sees(t, live.DeepCopy())
	}
	one := "apply visitors." + kind.gvk.Group
	step := func(what string, want ...string) {
		t.Helper()
		row, sent := w.reconcile(t, runner)
		if row.Err != nil {
			t.Fatalf("%s: %v", what, row.Err)
		}
		for operation := range maps.Keys(sent) {
			if operation != one { // the definition's, and discovery
				delete(sent, operation)
			}
		}
		wantSent(t, sent, want...)
		look()
	}
	look()
	step("at rest")
	spec["nights"] = int64(4)
	step("changed", one)
	delete(spec, "ratio")
	step("removed", one)
	if _, there, _ := unstructured.NestedFieldNoCopy(live.Object, "spec", "ratio"); there {
		t.Error("a removed field stays")
	}
	w.patch(t, live, `{"spec": {"nights": 9}}`)
	step("drift", one)
	w.patch(t, live, `{"spec": {"theirs": true}}`)
	step("a foreign field")
	w.patch(t, live, `{"status": {"phase": "x"}}`)
	step("a heartbeat")
	before := live.GetResourceVersion()
	w = w.restarted(t)
	runner = w.runner(t, declare)
	settles()
	look()
	if live.GetResourceVersion() != before {
		t.Error("a restart has changed it")
	}
	step("restarted")
}

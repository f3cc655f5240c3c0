// SPDX-License-Identifier: Apache-2.0

package dependent_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/rand"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/espalier-dev/espalier/dependent"
	v1 "github.com/espalier-dev/espalier/examples/webapp/api/v1"
	"github.com/espalier-dev/espalier/workflow"
)

// visitor is a kind that comes and goes, in a group of its own.
type visitor struct{ gvk schema.GroupVersionKind }

func newVisitor() visitor {
	return visitor{schema.GroupVersionKind{Group: "v" + rand.String(8) + ".example.com", Version: "v1", Kind: "Visitor"}}
}

func (v visitor) crd(tb testing.TB) *unstructured.Unstructured {
	tb.Helper()
	crd := &unstructured.Unstructured{}
	err := yaml.Unmarshal([]byte(`{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, spec: {
		names: {kind: Visitor, plural: visitors, singular: visitor, listKind: VisitorList}, scope: Namespaced,
		versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {
			type: object, x-kubernetes-preserve-unknown-fields: true}}}]}}`), &crd.Object)
	if err != nil {
		tb.Fatal(err)
	}
	crd.SetName("visitors." + v.gvk.Group)
	if err := unstructured.SetNestedField(crd.Object, v.gvk.Group, "spec", "group"); err != nil {
		tb.Fatal(err)
	}
	return crd
}

// comes makes the kind known, leaves lets it go and waits until it has gone.
func (v visitor) comes(tb testing.TB, w *world) {
	tb.Helper()
	w.create(tb, v.crd(tb))
	tb.Cleanup(func() { v.delete(tb, w) })
}

func (v visitor) leaves(tb testing.TB, w *world) {
	tb.Helper()
	v.delete(tb, w)
	w.waits(tb, func(ctx context.Context) bool {
		crd := v.crd(tb)
		return apierrors.IsNotFound(w.others.Get(ctx, client.ObjectKeyFromObject(crd), crd))
	}, "the kind doesn't go")
}

func (v visitor) delete(tb testing.TB, w *world) {
	tb.Helper()
	if err := w.others.Delete(context.WithoutCancel(tb.Context()), v.crd(tb)); client.IgnoreNotFound(err) != nil {
		tb.Error(err)
	}
}

func (v visitor) node(b builder) *dependent.Object[*v1.WebApp, *unstructured.Unstructured] {
	return dependent.Unstructured(b, v.gvk, "node", func(run) (*unstructured.Unstructured, error) {
		return &unstructured.Unstructured{Object: map[string]any{
			"metadata": map[string]any{"name": "guest"}, "spec": map[string]any{"nights": int64(3)},
		}}, nil
	})
}

// watched counts how often everything had to be looked at again.
func (w *world) watched(tb testing.TB) *atomic.Int32 {
	tb.Helper()
	n := &atomic.Int32{}
	w.engine.Watch(tb.Context(), func(types.UID) {}, func() { n.Add(1) })
	return n
}

// A kind that isn't served is waited for, and what waits proceeds when it comes, without a request in between; when it
// goes, there is nothing to delete any more.
func TestKindComesAndGoes(t *testing.T) { // R39 K1 J9 K3
	w, kind, wanted := newWorld(t), newVisitor(), atomic.Bool{}
	wanted.Store(true)
	runner := w.runner(t, func(b builder) {
		dependent.Typed(b, "other", func(run) (*corev1.ConfigMap, error) { return configMap("", "settings"), nil })
		kind.node(b).ReconcileWhen("wanted", func(run) workflow.Verdict {
			return workflow.If(wanted.Load(), "Unwanted", "it isn't wanted")
		})
	})
	news := w.watched(t)
	result := runner.Reconcile(t.Context(), of(w.primary))
	wantRow(t, result.Node("node"), workflow.Waiting, "KindNotServed")
	wantRow(t, result.Node("other"), workflow.Ready, "")
	if !runner.NeedsCleanup() {
		t.Error("the scope of a kind that isn't served can't be known: the garbage collector may not be able to remove it")
	}

	kind.comes(t, w)
	w.waits(t, func(context.Context) bool { return news.Load() == 1 }, "nobody says that the kind has come")
	row, sent := w.reconcile(t, runner)
	wantRow(t, row, workflow.Ready, "")
	wantSent(t, sent, "apply visitors."+kind.gvk.Group)
	row, sent = w.reconcile(t, runner)
	wantRow(t, row, workflow.Ready, "")
	wantSent(t, sent)

	kind.leaves(t, w)
	w.waits(t, func(context.Context) bool {
		row, _ := w.reconcile(t, runner)
		return row.Reason == "KindNotServed"
	}, "nobody notices that the kind has gone")
	wanted.Store(false)
	row, sent = w.reconcile(t, runner)
	wantRow(t, row, workflow.Disabled, "Unwanted")
	if sent["delete visitors."+kind.gvk.Group] > 0 {
		t.Errorf("sent %v", sent)
	}
	row, _ = w.cleanup(t, runner)
	wantRow(t, row, workflow.Deleted, "")
	if left, err := w.engine.Remains(t.Context(), w.primary, "webapp", func(string) bool { return true }); left == "" || err != nil {
		t.Errorf("left is %q, %v: want the other node's object", left, err) // it is collected
	}

	wanted.Store(true)
	kind.comes(t, w)
	w.waits(t, func(context.Context) bool {
		row, _ := w.reconcile(t, runner)
		return row.State == workflow.Ready
	}, "the kind has come again, but the node waits")
}

// Where nobody listens every run looks for itself.
func TestKindComesUnheard(t *testing.T) { // R39
	w, kind := newWorld(t), newVisitor()
	runner := w.runner(t, func(b builder) { kind.node(b) })
	row, _ := w.reconcile(t, runner)
	wantRow(t, row, workflow.Waiting, "KindNotServed")
	kind.comes(t, w)
	w.waits(t, func(context.Context) bool {
		row, _ := w.reconcile(t, runner)
		return row.State == workflow.Ready
	}, "the node doesn't notice that its kind has come")
	kind.leaves(t, w)
	w.waits(t, func(context.Context) bool { // a write finds out
		row, _ := w.reconcile(t, runner)
		return row.Reason == "KindNotServed"
	}, "the node doesn't notice that its kind has gone")
}

// Who may not watch what brings kinds asks by time.
func TestKindComesUnannounced(t *testing.T) { // R39
	w, kind := newWorld(t), newVisitor()
	name := "narrow-" + w.namespace
	allow(t, w, name, rbacv1.PolicyRule{APIGroups: []string{"", kind.gvk.Group}, Resources: []string{"*"}, Verbs: []string{"*"}})
	user, err := shared.get(t).User(name)
	if err != nil {
		t.Fatal(err)
	}
	w.startAs(t, user)
	dependent.Hurry(w.engine)
	runner := w.runner(t, func(b builder) { kind.node(b) })
	news := w.watched(t)
	row, _ := w.reconcile(t, runner)
	wantRow(t, row, workflow.Waiting, "KindNotServed")
	kind.comes(t, w)
	w.waits(t, func(context.Context) bool { return news.Load() == 1 }, "nobody notices that the kind has come")
	row, _ = w.reconcile(t, runner)
	wantRow(t, row, workflow.Ready, "")
}

// An optional kind makes its node inactive, and others that ask for it.
func TestWhenServed(t *testing.T) { // R2 R39
	for _, listens := range []bool{true, false} {
		w, kind := newWorld(t), newVisitor()
		runner := w.runner(t, func(b builder) {
			node := kind.node(b).WhenServed()
			dependent.Typed(b, "needs-it", func(run) (*corev1.ConfigMap, error) { return configMap("", "settings"), nil }).
				DependsOn(node)
			dependent.Typed(b, "gadgets", func(run) (*corev1.ConfigMap, error) { return configMap("", "gadgets"), nil }).
				ActivateWhen("gadgets are served", dependent.Served[Gadget])
		})
		if listens {
			w.watched(t)
		}
		becomes := func(state workflow.State) {
			t.Helper()
			w.waits(t, func(context.Context) bool {
				row, _ := w.reconcile(t, runner)
				return row.State == state
			}, "listens: %v: the node doesn't become %s", listens, state)
		}
		becomes(workflow.Inactive)
		result := runner.Reconcile(t.Context(), of(w.primary))
		wantRow(t, result.Node("needs-it"), workflow.Inactive, "PrerequisiteInactive")
		wantRow(t, result.Node("gadgets"), workflow.Ready, "")
		kind.comes(t, w)
		becomes(workflow.Ready)
		kind.leaves(t, w)
		becomes(workflow.Inactive)
	}
}

// What discovery can't say isn't taken for a no.
func TestDiscoveryFails(t *testing.T) { // R2 R39
	w, kind := newWorld(t), newVisitor()
	runner := w.runner(t, func(b builder) { kind.node(b).WhenServed() })
	w.gate.refuses.Store(true)
	row, _ := w.reconcile(t, runner)
	wantRow(t, row, workflow.Failed, "ActivationUnknown")
	w.gate.refuses.Store(false)
}

// A proxy that knows no path says nothing of the cluster: nothing is taken for gone.
func TestProxyKnowsNoPath(t *testing.T) { // R4 R39
	w, kind := newWorld(t), newVisitor()
	kind.comes(t, w)
	runner := w.runner(t, func(b builder) {
		kind.node(b).WhenServed()
		dependent.Typed(b, "other", func(run) (*corev1.ConfigMap, error) { return configMap("", "settings"), nil })
	}, workflow.Options{OrderedDeletion: true})
	w.waits(t, func(context.Context) bool { return runner.Reconcile(t.Context(), of(w.primary)).Ready() }, "it doesn't become ready")
	w.gate.misleads.Store(true)
	row, _ := w.reconcile(t, runner)
	if row.State == workflow.Inactive {
		t.Error("the kind is taken for one that isn't served")
	}
	if left, err := w.engine.Remains(t.Context(), w.primary, "webapp", func(string) bool { return true }); err == nil {
		t.Errorf("what is left is known: %q", left)
	}
	w = w.restarted(t)
	w.gate.misleads.Store(true)
	b := workflow.NewBuilder[*v1.WebApp]("webapp")
	kind.node(b)
	graph, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	later, err := workflow.NewRunner(graph, w.engine, workflow.Options{OrderedDeletion: true})
	if err != nil {
		return // it can't even be set up
	}
	if result := later.Cleanup(t.Context(), of(w.primary)); result.Complete() {
		t.Error("the cleanup is complete, though nobody knows")
	}
}

// A kind that the operator may not list keeps nobody else waiting, and is read as soon as it may be.
func TestForbiddenKind(t *testing.T) { // R32 R39 R60
	w := newWorld(t)
	name := "half-" + w.namespace
	all := rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"*"}}
	allow(t, w, name, all)
	user, err := shared.get(t).User(name)
	if err != nil {
		t.Fatal(err)
	}
	w.startAs(t, user)
	runner := w.runner(t, func(b builder) {
		dependent.Typed(b, "other", func(run) (*corev1.ConfigMap, error) { return configMap("", "settings"), nil })
		dependent.Typed(b, "node", func(run) (*corev1.Secret, error) { return secret(corev1.SecretTypeOpaque, "a", "b"), nil })
	})
	optional := w.runner(t, func(b builder) {
		dependent.Typed(b, "node", func(run) (*corev1.Secret, error) { return secret(corev1.SecretTypeOpaque, "a", "b"), nil }).WhenServed()
	})
	row, _ := w.reconcile(t, optional)
	wantRow(t, row, workflow.Failed, "Forbidden") // it is served, whoever may read it
	news := w.watched(t)
	if err := w.engine.WaitForSync(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.waits(t, func(context.Context) bool {
		row, _ := w.reconcile(t, runner)
		return row.Reason == "Forbidden"
	}, "nobody says that it is forbidden")
	allow(t, w, name, rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"*"}})
	w.waits(t, func(context.Context) bool { return news.Load() == 1 }, "nobody notices that it is allowed")
	w.waits(t, func(context.Context) bool { // its own backoff may have to pass
		row, _ := w.reconcile(t, runner)
		return row.State == workflow.Ready
	}, "the node fails, though it may read now")
}

// A namespace that isn't there yet, or goes, is waited for.
func TestNamespaceComesAndGoes(t *testing.T) { // R39 X21
	w := newWorld(t)
	away := w.namespace + "-away"
	runner := w.runner(t, func(b builder) {
		dependent.Typed(b, "node", func(run) (*corev1.ConfigMap, error) { return configMap(away, "settings"), nil }).AnyNamespace()
	})
	row, _ := w.reconcile(t, runner)
	wantRow(t, row, workflow.Waiting, "NamespaceMissing")
	if row.Recheck == 0 {
		t.Error("nobody looks again")
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: away, Finalizers: []string{"example.com/hold"}}}
	w.create(t, namespace)
	if err := w.others.Delete(t.Context(), namespace); err != nil { // it has no controller: it stays as it is
		t.Fatal(err)
	}
	row, _ = w.reconcile(t, runner)
	wantRow(t, row, workflow.Waiting, "NamespaceTerminating")
}

// One kind is read in one way.
func TestTypedAndUnstructured(t *testing.T) {
	w := newWorld(t)
	b := workflow.NewBuilder[*v1.WebApp]("webapp")
	dependent.Typed(b, "typed", func(run) (*corev1.ConfigMap, error) { return configMap("", "settings"), nil })
	dependent.Unstructured(b, corev1.SchemeGroupVersion.WithKind("ConfigMap"), "untyped",
		func(run) (*unstructured.Unstructured, error) { return nil, errors.New("not reached") })
	graph, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	if _, err = workflow.NewRunner(graph, w.engine, workflow.Options{}); err == nil {
		t.Error("two caches of one kind are accepted")
	}
}

// SPDX-License-Identifier: Apache-2.0

package dependent_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/espalier-dev/espalier/dependent"
	"github.com/espalier-dev/espalier/workflow"
)

// wakes counts how often the primary is told of something.
func (w *world) wakes(tb testing.TB) *atomic.Int32 {
	tb.Helper()
	n := &atomic.Int32{}
	w.engine.Watch(tb.Context(), func(primary types.UID) {
		if primary == w.primary.UID {
			n.Add(1)
		}
	}, func() {})
	return n
}

// What somebody else has is waited for, read and never written; the primary is woken when it changes.
func TestReference(t *testing.T) { // R13 R18 I3
	w := newWorld(t)
	runner := w.runner(t, func(b builder) {
		theirs := dependent.Reference[corev1.ConfigMap](b, "node", func(run) (client.ObjectKey, error) {
			return client.ObjectKey{Name: "theirs"}, nil
		})
		dependent.Typed(b, "user", func(r run) (*corev1.ConfigMap, error) {
			c := configMap("", "user")
			c.Data = map[string]string{"color": theirs.Get(r).Data["color"]}
			return c, nil
		}).DependsOn(theirs)
	}, workflow.Options{OrderedDeletion: true})
	woken := w.wakes(t)
	row, sent := w.reconcile(t, runner)
	wantRow(t, row, workflow.NotReady, "NotFound")
	wantSent(t, sent)

	theirs := configMap(w.namespace, "theirs")
	theirs.Data = map[string]string{"color": "green"}
	w.create(t, theirs)
	w.waits(t, func(context.Context) bool { return woken.Load() > 0 }, "nobody says that it has appeared")
	w.sees(t, theirs)
	row, sent = w.reconcile(t, runner)
	wantRow(t, row, workflow.Ready, "")
	wantSent(t, sent, "apply configmaps")
	w.sees(t, read[corev1.ConfigMap](t, w, "user"))
	_, sent = w.reconcile(t, runner)
	wantSent(t, sent)

	before := woken.Load()
	w.patch(t, theirs, `{"data": {"color": "red"}}`)
	w.waits(t, func(context.Context) bool { return woken.Load() > before }, "nobody says that it has changed")
	_, sent = w.reconcile(t, runner)
	wantSent(t, sent, "apply configmaps")
	if user := read[corev1.ConfigMap](t, w, "user"); user.Data["color"] != "red" {
		t.Errorf("the user has %v", user.Data)
	}
	if now := read[corev1.ConfigMap](t, w, "theirs"); now.ResourceVersion != theirs.ResourceVersion {
		t.Error("it was written")
	}

	w.cleanup(t, runner)
	if !w.exists(t, configMap("", "theirs")) {
		t.Error("what is somebody else's was deleted")
	}
}

// What isn't referred to any more wakes nobody.
func TestReferenceMoves(t *testing.T) {
	w, name := newWorld(t), "a"
	runner := w.runner(t, func(b builder) {
		dependent.Reference[corev1.ConfigMap](b, "node", func(run) (client.ObjectKey, error) {
			return client.ObjectKey{Name: name}, nil
		})
	})
	woken := w.wakes(t)
	w.reconcile(t, runner)
	a := configMap(w.namespace, "a")
	w.create(t, a)
	w.waits(t, func(context.Context) bool { return woken.Load() == 1 }, "nobody says that it has appeared")
	name = "b"
	row, _ := w.reconcile(t, runner)
	wantRow(t, row, workflow.NotReady, "NotFound")
	w.patch(t, a, `{"data": {"color": "blue"}}`)
	b := configMap(w.namespace, "b")
	w.create(t, b)
	w.patch(t, b, `{"data": {"color": "white"}}`) // all of them come in order
	w.waits(t, func(context.Context) bool { return woken.Load() >= 4 }, "woken %d times", &woken)
	if n := woken.Load(); n != 4 { // it appeared twice, and changed from one state to another
		t.Errorf("woken %d times, want 4", n)
	}
}

// A reference to an object with a status is ready by the rule of its kind.
func TestReferenceReadiness(t *testing.T) { // R38
	w := newWorld(t)
	theirs := deployment("theirs")
	theirs.Namespace = w.namespace
	w.create(t, theirs)
	runner := w.runner(t, func(b builder) {
		dependent.Reference[appsv1.Deployment](b, "node", func(run) (client.ObjectKey, error) {
			return client.ObjectKey{Name: "theirs"}, nil
		})
	})
	row, _ := w.reconcile(t, runner)
	wantRow(t, row, workflow.NotReady, "Progressing")
}

func TestReferences(t *testing.T) {
	w := newWorld(t)
	var seen []string
	runner := w.runner(t, func(b builder) {
		all := dependent.References[corev1.ConfigMap](b, "node", func(run) (dependent.Selection, error) {
			return dependent.Selection{Labels: labels.SelectorFromSet(labels.Set{"app": w.namespace}), AllNamespaces: true}, nil
		})
		workflow.Value(b, "names", func(r run) (int, error) {
			seen = nil
			for _, obj := range all.Get(r) {
				seen = append(seen, obj.Name)
			}
			return len(seen), nil
		}).DependsOn(all)
	})
	woken := w.wakes(t)
	row, sent := w.reconcile(t, runner)
	wantRow(t, row, workflow.Ready, "")
	wantSent(t, sent)
	for _, name := range []string{"b", "a"} {
		obj := configMap(w.namespace, name)
		obj.Labels = map[string]string{"app": w.namespace}
		w.create(t, obj)
		w.sees(t, obj)
	}
	w.create(t, configMap(w.namespace, "c"))
	w.waits(t, func(context.Context) bool { return woken.Load() == 2 }, "woken %d times, want 2", &woken)
	w.reconcile(t, runner)
	if got := strings.Join(seen, " "); got != "a b" {
		t.Errorf("got %q, want the two in order", got)
	}
	w.engine.Forget(w.primary.UID)
	obj := configMap(w.namespace, "a")
	w.patch(t, obj, `{"data": {"a": "b"}}`)
	if woken.Load() != 2 {
		t.Error("a primary that has gone is woken")
	}
}

func TestReferenceIsChecked(t *testing.T) {
	w := newWorld(t)
	runner := w.runner(t, func(b builder) {
		dependent.Reference[corev1.ConfigMap](b, "node", func(run) (client.ObjectKey, error) { return client.ObjectKey{}, nil })
		dependent.References[corev1.ConfigMap](b, "all", func(run) (dependent.Selection, error) {
			return dependent.Selection{Namespace: "x", AllNamespaces: true}, nil
		})
		dependent.Reference[corev1.Node](b, "machine", func(r run) (client.ObjectKey, error) {
			return client.ObjectKeyFromObject(r.Primary()), nil // of a cluster-scoped kind
		})
	})
	result := runner.Reconcile(t.Context(), of(w.primary))
	wantRow(t, result.Node("node"), workflow.Failed, "InvalidName")
	wantRow(t, result.Node("all"), workflow.Failed, "Error")
	wantRow(t, result.Node("machine"), workflow.NotReady, "NotFound")
}

// A reference by name watches its one object, as an operator that may read no other, and nothing when nobody refers.
func TestReferenceByName(t *testing.T) {
	w := newWorld(t)
	user := "reader-" + w.namespace
	allow(t, w, user, rbacv1.PolicyRule{
		APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"get", "list", "watch"}, ResourceNames: []string{"object"},
	})
	cfg, err := shared.get(t).User(user)
	if err != nil {
		t.Fatal(err)
	}
	w.startAs(t, cfg)
	var seen atomic.Pointer[corev1.Secret]
	runner := w.runner(t, func(b builder) {
		theirs := dependent.Reference[corev1.Secret](b, "node", func(run) (client.ObjectKey, error) {
			return client.ObjectKey{Name: "object"}, nil
		}).ByName()
		workflow.Value(b, "value", func(r run) (int, error) {
			seen.Store(theirs.Get(r))
			return 0, nil
		}).DependsOn(theirs)
	})
	row, sent := w.reconcile(t, runner) // nobody listens yet
	wantRow(t, row, workflow.NotReady, "NotFound")
	wantSent(t, sent, "get secrets")
	woken := w.wakes(t)
	w.waits(t, func(context.Context) bool {
		row, sent = w.reconcile(t, runner)
		return len(sent) == 0
	}, "it isn't watched")
	wantRow(t, row, workflow.NotReady, "NotFound")
	theirs := secret(corev1.SecretTypeOpaque, "a", "b")
	theirs.Namespace = w.namespace
	w.create(t, theirs)
	w.waits(t, func(context.Context) bool { return woken.Load() > 0 }, "nobody says that it has appeared")
	row, sent = w.reconcile(t, runner)
	wantRow(t, row, workflow.Ready, "")
	wantSent(t, sent)
	if seen.Load() == nil || string(seen.Load().Data["a"]) != "b" {
		t.Errorf("seen is %v", seen.Load())
	}
	if n := dependent.Watched(w.engine); n != 1 {
		t.Errorf("%d objects are watched, want 1", n)
	}
	w.engine.Forget(w.primary.UID)
	if n := dependent.Watched(w.engine); n != 0 {
		t.Errorf("%d objects are watched, though nobody refers to any", n)
	}
}

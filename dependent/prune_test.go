// SPDX-License-Identifier: Apache-2.0

package dependent_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coreac "k8s.io/client-go/applyconfigurations/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/espalier-dev/espalier/dependent"
	v1 "github.com/espalier-dev/espalier/examples/webapp/api/v1"
	"github.com/espalier-dev/espalier/workflow"
)

// named is the desired state of a test that renames it.
type renamed struct{ name, data string }

func (n *renamed) desired(run) (*corev1.ConfigMap, error) {
	c := configMap("", n.name)
	c.Data = map[string]string{"a": n.data}
	return c, nil
}

func (w *world) exists(tb testing.TB, obj client.Object) bool {
	tb.Helper()
	obj.SetNamespace(w.namespace)
	err := w.others.Get(tb.Context(), client.ObjectKeyFromObject(obj), obj)
	if client.IgnoreNotFound(err) != nil {
		tb.Fatal(err)
	}
	return !apierrors.IsNotFound(err)
}

// What the node had under another name goes once the new object is there, also after a restart; at rest nothing is
// asked.
func TestRename(t *testing.T) { // R41
	w, n := newWorld(t), &renamed{name: "old", data: "1"}
	declare := func(b builder) {
		dependent.Typed(b, "node", n.desired)
		dependent.Typed(b, "other", func(run) (*corev1.ConfigMap, error) { return configMap("", "other"), nil })
	}
	runner := w.runner(t, declare)
	row, _ := w.reconcile(t, runner)
	wantRow(t, row, workflow.Ready, "")
	w.sees(t, read[corev1.ConfigMap](t, w, "old"))
	for _, name := range []string{"new", "newer"} {
		if name == "newer" {
			w = w.restarted(t)
			runner = w.runner(t, declare)
		}
		old := read[corev1.ConfigMap](t, w, n.name)
		n.name = name
		row, sent := w.reconcile(t, runner)
		if wantSent(t, sent, "apply configmaps", "delete configmaps"); row.State != workflow.Ready || row.Operation != workflow.Create {
			t.Errorf("got %+v", row)
		}
		w.misses(t, old)
		row, sent = w.reconcile(t, runner)
		wantRow(t, row, workflow.Ready, "")
		wantSent(t, sent)
	}
	if !w.exists(t, configMap("", "other")) {
		t.Error("the other node's object has gone")
	}
}

// A node that fails, or isn't ready, prunes nothing.
func TestFailedNodePrunesNothing(t *testing.T) { // R41
	w, n := newWorld(t), &renamed{name: "old", data: "1"}
	ready := true
	runner := w.runner(t, func(b builder) {
		dependent.Typed(b, "node", n.desired).ReadyWhen("ready", func(run, *corev1.ConfigMap) workflow.Verdict {
			return workflow.If(ready, "Starting", "wait")
		})
	})
	w.reconcile(t, runner)
	w.sees(t, read[corev1.ConfigMap](t, w, "old"))
	n.name, ready = "new", false
	row, sent := w.reconcile(t, runner)
	wantRow(t, row, workflow.NotReady, "Starting")
	wantSent(t, sent, "apply configmaps")
	if !w.exists(t, configMap("", "old")) {
		t.Error("the old object has gone before the new one is ready")
	}
}

// Data isn't pruned, nor what is protected; what is to be orphaned is released.
func TestPruneKeepsData(t *testing.T) { // R40 R41
	w, name := newWorld(t), "old"
	runner := w.runner(t, func(b builder) {
		dependent.Typed(b, "node", func(run) (*corev1.PersistentVolumeClaim, error) {
			return &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PersistentVolumeClaimSpec{
				AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
				Resources: corev1.VolumeResourceRequirements{
					Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")},
				},
			}}, nil
		})
	})
	w.reconcile(t, runner)
	w.sees(t, read[corev1.PersistentVolumeClaim](t, w, "old"))
	name = "new"
	row, sent := w.reconcile(t, runner)
	wantSent(t, sent, "apply persistentvolumeclaims")
	if row.State != workflow.Ready || row.Reason != "DataProtected" {
		t.Errorf("got %s, %q", row.State, row.Reason)
	}
}

// What a node that the graph no longer has left stays and is named, unless the node is declared as retired.
func TestRetired(t *testing.T) { // R41 H1 H5 H6 H7 X9
	w := newWorld(t)
	runner := w.runner(t, func(b builder) {
		dependent.Typed(b, "old-node", func(run) (*corev1.ConfigMap, error) { return configMap("", "old"), nil })
		dependent.Typed(b, "node", func(run) (*corev1.ConfigMap, error) { return configMap("", "settings"), nil })
	})
	w.reconcile(t, runner)
	old := read[corev1.ConfigMap](t, w, "old")

	w = w.restarted(t)
	runner = w.runner(t, func(b builder) {
		dependent.Typed(b, "node", func(run) (*corev1.ConfigMap, error) { return configMap("", "settings"), nil })
	})
	row, sent := w.reconcile(t, runner)
	wantRow(t, row, workflow.Ready, "")
	wantSent(t, sent)
	unclaimed, err := w.engine.Unclaimed(t.Context(), w.primary, "webapp", func(node string) bool { return node == "node" })
	if want := []string{`ConfigMap "old" of node "old-node"`}; err != nil || !slices.Equal(unclaimed, want) {
		t.Errorf("unclaimed are %q, %v; want %q", unclaimed, err, want)
	}

	w = w.restarted(t)
	runner = w.runner(t, func(b builder) {
		dependent.Typed(b, "node", func(run) (*corev1.ConfigMap, error) { return configMap("", "settings"), nil })
		dependent.Retired[corev1.ConfigMap](b, "old-node")
	})
	_, sent = w.reconcile(t, runner)
	wantSent(t, sent, "delete configmaps")
	w.misses(t, old)
	result := runner.Reconcile(t.Context(), of(w.primary))
	wantRow(t, result.Node("old-node"), workflow.Disabled, "Retired")
	wantRow(t, result.Node("node"), workflow.Ready, "")
}

// A new content makes a new object; the old one serves until all that uses it uses the new one.
func TestContentNamed(t *testing.T) { // R35 R41
	w, n := newWorld(t), &renamed{name: "settings", data: "1"}
	ready, uses := true, ""
	declare := func(b builder) {
		node := dependent.Typed(b, "node", n.desired).Recreate(dependent.ContentNamed)
		dependent.Typed(b, "user", func(r run) (*corev1.ConfigMap, error) {
			uses = node.Get(r).Name
			c := configMap("", "user")
			c.Data = map[string]string{"uses": uses}
			return c, nil
		}).DependsOn(node).ReadyWhen("ready", func(run, *corev1.ConfigMap) workflow.Verdict {
			return workflow.If(ready, "Starting", "wait")
		})
	}
	runner := w.runner(t, declare)
	row, _ := w.reconcile(t, runner)
	wantRow(t, row, workflow.Ready, "")
	first := read[corev1.ConfigMap](t, w, uses)
	if !strings.HasPrefix(first.Name, "settings-") {
		t.Errorf("the name is %q", first.Name)
	}
	w.sees(t, first)
	_, sent := w.reconcile(t, runner)
	wantSent(t, sent)

	n.data, ready = "2", false
	_, sent = w.reconcile(t, runner)
	wantSent(t, sent, "apply configmaps", "apply configmaps")
	if uses == first.Name || !w.exists(t, configMap("", first.Name)) {
		t.Errorf("the user has %q, and the old object has gone", uses)
	}
	ready = true
	_, sent = w.reconcile(t, runner)
	wantSent(t, sent, "delete configmaps")
	w.misses(t, first)

	w = w.restarted(t)
	runner = w.runner(t, declare)
	_, sent = w.reconcile(t, runner)
	wantSent(t, sent)
	w.waits(t, func(context.Context) bool { return !w.exists(t, configMap("", first.Name)) }, "the old object stays")
}

// What the node had of another kind goes once the new object is ready, and with everything else at the end.
func TestFormerKinds(t *testing.T) { // R41
	w := newWorld(t)
	before := func(b builder) {
		dependent.Typed(b, "node", func(run) (*corev1.ConfigMap, error) { return configMap("", "old"), nil })
	}
	runner := w.runner(t, before, workflow.Options{OrderedDeletion: true})
	w.reconcile(t, runner)
	old := read[corev1.ConfigMap](t, w, "old")

	w = w.restarted(t)
	ready, wanted := false, true
	runner = w.runner(t, func(b builder) {
		dependent.Typed(b, "node", func(run) (*corev1.Secret, error) {
			s := secret(corev1.SecretTypeOpaque, "a", "b")
			s.Name = "new"
			return s, nil
		}).FormerKinds(&corev1.ConfigMap{}).
			ReconcileWhen("wanted", func(run) workflow.Verdict { return workflow.If(wanted, "Unwanted", "it isn't wanted") }).
			ReadyWhen("ready", func(run, *corev1.Secret) workflow.Verdict { return workflow.If(ready, "Starting", "wait") })
	}, workflow.Options{OrderedDeletion: true})
	_, sent := w.reconcile(t, runner)
	wantSent(t, sent, "apply secrets")
	ready = true
	_, sent = w.reconcile(t, runner)
	wantSent(t, sent, "delete configmaps")
	w.misses(t, old)
	row, sent := w.reconcile(t, runner)
	wantRow(t, row, workflow.Ready, "")
	wantSent(t, sent)

	// Both are there when the node isn't wanted any more.
	again := newWorld(t)
	again.reconcile(t, again.runner(t, before, workflow.Options{OrderedDeletion: true}))
	w.primary, w.namespace, wanted = again.primary, again.namespace, false
	w.sees(t, read[corev1.ConfigMap](t, again, "old"))
	w.waits(t, func(context.Context) bool {
		row, _ = w.reconcile(t, runner)
		return row.State == workflow.Disabled
	}, "it isn't deleted")
	if again.exists(t, configMap("", "old")) {
		t.Error("the object of the former kind is left")
	}
}

// Of a repeated node each instance prunes its own, and no other's.
func TestRenameOfInstances(t *testing.T) { // R41 X10
	w, suffix := newWorld(t), "-old"
	other := w.newPrimary(t, "other")
	runner := w.runner(t, func(b builder) {
		dependent.ForEach[corev1.ConfigMap](b, "node",
			func(run) ([]string, error) { return []string{"a", "b"}, nil },
			func(r run, key string) (*coreac.ConfigMapApplyConfiguration, error) {
				return coreac.ConfigMap(r.Primary().Name+"-"+key+suffix, r.Primary().Namespace), nil
			})
	})
	settles := func(primary *v1.WebApp) {
		t.Helper()
		w.waits(t, func(ctx context.Context) bool {
			var result *workflow.Result
			sent := w.sends(func() { result = runner.Reconcile(ctx, of(primary)) })
			return result.Ready() && len(sent) == 0 && w.hasCaughtUp(t)
		}, "it doesn't come to rest")
	}
	settles(w.primary)
	settles(other)
	suffix = "-new"
	settles(w.primary)
	for name, want := range map[string]bool{
		"shop-a-old": false, "shop-b-old": false, "shop-a-new": true, "shop-b-new": true, "other-a-old": true, "other-b-old": true,
	} {
		if got := w.exists(t, configMap("", name)); got != want {
			t.Errorf("%s is there: %v, want %v", name, got, want)
		}
	}
}

// SPDX-License-Identifier: Apache-2.0

package dependent_test

import (
	"fmt"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/espalier-dev/espalier/dependent"
	"github.com/espalier-dev/espalier/workflow"
)

// optional is a ConfigMap that is wanted as long as it is said so.
type optional struct {
	settings
	unwanted bool
}

func (o *optional) declare(b builder) {
	dependent.Typed(b, "node", func(run) (*corev1.ConfigMap, error) {
		if o.unwanted {
			panic("the author's function was asked for what isn't wanted") // J14
		}
		return o.object(), nil
	}).ReconcileWhen("wanted", func(run) workflow.Verdict { return workflow.If(!o.unwanted, "NotWanted", "") })
}

// isGone reports whether an object with the UID of obj is there no more.
func isGone(t *testing.T, w *world, obj client.Object) bool {
	t.Helper()
	now := obj.DeepCopyObject().(client.Object)
	err := w.others.Get(t.Context(), client.ObjectKeyFromObject(obj), now)
	if client.IgnoreNotFound(err) != nil {
		t.Fatal(err)
	}
	return apierrors.IsNotFound(err) || now.GetUID() != obj.GetUID()
}

func TestUnwanted(t *testing.T) { // R14 R40 X8
	w, o := newWorld(t), &optional{}
	runner := w.runner(t, o.declare)
	w.reconcile(t, runner)
	live := read[corev1.ConfigMap](t, w, "settings")
	w.sees(t, live)
	w.gate.shut()
	o.unwanted = true
	row, sent := w.reconcile(t, runner)
	wantRow(t, row, workflow.Deleting, "Terminating")
	wantSent(t, sent, "delete configmaps")
	if row.Operation != workflow.Delete || !isGone(t, w, live) {
		t.Errorf("the operation is %q", row.Operation)
	}
	for range 2 { // the cache still shows it
		row, sent = w.reconcile(t, runner)
		wantRow(t, row, workflow.Deleting, "Terminating")
		wantSent(t, sent)
	}
	o.unwanted = false // and it is wanted again
	row, sent = w.reconcile(t, runner)
	wantRow(t, row, workflow.Waiting, "Terminating")
	wantSent(t, sent)
	o.unwanted = true
	w.gate.reopen()
	w.misses(t, live)
	row, sent = w.reconcile(t, runner)
	wantRow(t, row, workflow.Disabled, "NotWanted")
	wantSent(t, sent)
	o.unwanted = false
	row, sent = w.reconcile(t, runner)
	wantRow(t, row, workflow.Ready, "")
	wantSent(t, sent, "apply configmaps")
}

// What was written is deleted, also before the cache has shown it.
func TestUnwantedBeforeItWasSeen(t *testing.T) { // R32 R40 F17
	w, o := newWorld(t), &optional{}
	runner := w.runner(t, o.declare)
	w.gate.shut()
	w.reconcile(t, runner)
	live := read[corev1.ConfigMap](t, w, "settings")
	o.unwanted = true
	_, sent := w.reconcile(t, runner)
	wantSent(t, sent, "delete configmaps")
	if !isGone(t, w, live) {
		t.Error("it is still there")
	}
	row, sent := w.reconcile(t, runner)
	wantRow(t, row, workflow.Disabled, "NotWanted")
	wantSent(t, sent)
	w.gate.reopen()
}

func TestHeldByFinalizers(t *testing.T) { // R40 J10 J15
	w, o := newWorld(t), &optional{}
	runner := w.runner(t, o.declare)
	w.reconcile(t, runner)
	live := read[corev1.ConfigMap](t, w, "settings")
	w.patch(t, live, `{"metadata":{"finalizers":["example.com/hold"]}}`)
	o.unwanted = true
	_, sent := w.reconcile(t, runner)
	wantSent(t, sent, "delete configmaps")
	w.sees(t, read[corev1.ConfigMap](t, w, "settings"))
	row, sent := w.reconcile(t, runner)
	wantRow(t, row, workflow.Deleting, "Terminating")
	wantSent(t, sent)
	if want := `ConfigMap "settings" is being deleted, held by ["example.com/hold"]`; row.Message != want {
		t.Errorf("the message is %q, want %q", row.Message, want)
	}
	if err := w.others.Patch(t.Context(), live, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))); err != nil {
		t.Fatal(err)
	}
	w.misses(t, live)
	row, sent = w.reconcile(t, runner)
	wantRow(t, row, workflow.Disabled, "NotWanted")
	wantSent(t, sent)
}

// A delete that finds nothing, or another object, has nothing to do.
func TestDeletedByOthers(t *testing.T) { // R33 R40
	for _, again := range []bool{false, true} {
		t.Run(fmt.Sprintf("made again = %t", again), func(t *testing.T) {
			w, o := newWorld(t), &optional{}
			runner := w.runner(t, o.declare)
			w.reconcile(t, runner)
			live := read[corev1.ConfigMap](t, w, "settings")
			w.sees(t, live)
			w.gate.shut()
			if err := w.others.Delete(t.Context(), live); err != nil {
				t.Fatal(err)
			}
			theirs := copyOf(live, "settings")
			if again {
				w.create(t, theirs)
			}
			o.unwanted = true
			row, sent := w.reconcile(t, runner)
			wantRow(t, row, workflow.Deleting, "Terminating")
			wantSent(t, sent, "delete configmaps")
			w.gate.reopen()
			w.misses(t, live)
			row, sent = w.reconcile(t, runner)
			wantRow(t, row, workflow.Disabled, "NotWanted")
			wantSent(t, sent)
			if again && isGone(t, w, theirs) {
				t.Error("somebody else's object was deleted")
			}
		})
	}
}

// copyOf is what somebody makes of an object's manifest: everything, labels included, is as it was.
func copyOf(obj *corev1.ConfigMap, name string) *corev1.ConfigMap {
	out := obj.DeepCopy()
	out.ObjectMeta = metav1.ObjectMeta{
		Name: name, Namespace: obj.Namespace, Labels: obj.Labels, OwnerReferences: obj.OwnerReferences,
	}
	return out
}

// Copies that somebody made, with all our labels, are theirs: in a reconcile and in a cleanup.
func TestCopiesAreNeverDeleted(t *testing.T) { // R40
	w, o := newWorld(t), &optional{}
	runner := w.runner(t, o.declare, workflow.Options{OrderedDeletion: true})
	w.reconcile(t, runner)
	live := read[corev1.ConfigMap](t, w, "settings")
	w.sees(t, live)
	created := copyOf(live, "created")
	w.create(t, created)
	w.sees(t, created)
	applied := copyOf(live, "applied")
	applied.APIVersion, applied.Kind = "v1", "ConfigMap"
	text := encoded(t, map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap",
		"metadata": map[string]any{"name": applied.Name, "labels": applied.Labels},
	})
	if err := w.others.Patch(t.Context(), applied, client.RawPatch(types.ApplyPatchType, []byte(text))); err != nil {
		t.Fatal(err)
	}
	w.sees(t, applied)
	o.unwanted = true
	_, sent := w.reconcile(t, runner)
	wantSent(t, sent, "delete configmaps")
	w.misses(t, live)
	row, sent := w.reconcile(t, runner)
	wantRow(t, row, workflow.Disabled, "NotWanted")
	wantSent(t, sent)
	row, sent = w.cleanup(t, runner)
	wantRow(t, row, workflow.Deleted, "")
	wantSent(t, sent)
	if isGone(t, w, created) || isGone(t, w, applied) {
		t.Error("a copy was deleted")
	}
}

// A node's former names are its own as well.
func TestEverythingOfANodeIsDeleted(t *testing.T) { // R40 R41 J14
	w := newWorld(t)
	name := "first"
	runner := w.runner(t, func(b builder) {
		dependent.Typed(b, "node", func(run) (*corev1.ConfigMap, error) {
			return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}, nil
		}).ReadyWhen("never", func(run, *corev1.ConfigMap) workflow.Verdict { return workflow.Unmet("Starting", "wait") })
	}, workflow.Options{OrderedDeletion: true})
	w.reconcile(t, runner)
	first := read[corev1.ConfigMap](t, w, "first")
	name = "second"
	w.reconcile(t, runner)
	second := read[corev1.ConfigMap](t, w, "second")
	w.sees(t, second)
	row, sent := w.cleanup(t, runner)
	wantRow(t, row, workflow.Deleting, "Terminating")
	wantSent(t, sent, "delete configmaps", "delete configmaps")
	w.misses(t, first)
	w.misses(t, second)
	row, sent = w.cleanup(t, runner)
	wantRow(t, row, workflow.Deleted, "")
	wantSent(t, sent)
}

// An object that can't be deleted doesn't keep the node's others.
func TestOneOfSeveralCannotBeDeleted(t *testing.T) { // R10 R40
	w := newWorld(t)
	user := "deleter-" + w.namespace
	allow(t, w, user,
		rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"list", "watch", "patch", "create"}},
		rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"delete"}, ResourceNames: []string{"second"}},
	)
	cfg, err := shared.get(t).User(user)
	if err != nil {
		t.Fatal(err)
	}
	w.startAs(t, cfg)
	name := "first"
	runner := w.runner(t, func(b builder) {
		dependent.Typed(b, "node", func(run) (*corev1.ConfigMap, error) { return configMap("", name), nil })
	}, workflow.Options{OrderedDeletion: true})
	w.reconcile(t, runner)
	name = "second"
	w.reconcile(t, runner)
	first, second := read[corev1.ConfigMap](t, w, "first"), read[corev1.ConfigMap](t, w, "second")
	row, sent := w.cleanup(t, runner)
	wantRow(t, row, workflow.Failed, "Forbidden")
	wantSent(t, sent, "delete configmaps", "delete configmaps")
	if !strings.HasPrefix(row.Message, `deleting ConfigMap "first": Forbidden`) {
		t.Errorf("the message is %q", row.Message)
	}
	if isGone(t, w, first) || !isGone(t, w, second) {
		t.Error("want the second alone to be gone")
	}
}

// After a restart objects are found by their labels alone.
func TestDeletedAfterARestart(t *testing.T) { // R40 R69 F11
	w, o := newWorld(t), &optional{}
	w.reconcile(t, w.runner(t, o.declare))
	live := read[corev1.ConfigMap](t, w, "settings")
	o.unwanted = true
	w = w.restarted(t)
	_, sent := w.reconcile(t, w.runner(t, o.declare))
	wantSent(t, sent, "delete configmaps")
	if !isGone(t, w, live) {
		t.Error("it is still there")
	}
}

func TestDataIsProtected(t *testing.T) { // R40 G4
	claim := func() *corev1.PersistentVolumeClaim {
		return &corev1.PersistentVolumeClaim{
			ObjectMeta: metav1.ObjectMeta{Name: "data"},
			Spec: corev1.PersistentVolumeClaimSpec{
				AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
				Resources: corev1.VolumeResourceRequirements{
					Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")},
				},
			},
		}
	}
	set := func(claims ...corev1.PersistentVolumeClaim) *appsv1.StatefulSet {
		spec := deployment("data").Spec
		return &appsv1.StatefulSet{
			ObjectMeta: metav1.ObjectMeta{Name: "data"},
			Spec:       appsv1.StatefulSetSpec{Selector: spec.Selector, Template: spec.Template, VolumeClaimTemplates: claims},
		}
	}
	wanted := func(r run) workflow.Verdict { return workflow.If(r.Primary().Annotations == nil, "NotWanted", "") }
	tests := []struct {
		name      string
		declare   func(b builder)
		protected bool
	}{
		{"a claim", func(b builder) {
			dependent.Typed(b, "node", func(run) (*corev1.PersistentVolumeClaim, error) { return claim(), nil }).
				ReconcileWhen("wanted", wanted)
		}, true},
		{"a claim that may go", func(b builder) {
			dependent.Typed(b, "node", func(run) (*corev1.PersistentVolumeClaim, error) { return claim(), nil }).
				ReconcileWhen("wanted", wanted).DeletesData()
		}, false},
		{"a StatefulSet with claims", func(b builder) {
			dependent.Typed(b, "node", func(run) (*appsv1.StatefulSet, error) { return set(*claim()), nil }).
				ReconcileWhen("wanted", wanted)
		}, true},
		{"a StatefulSet without", func(b builder) {
			dependent.Typed(b, "node", func(run) (*appsv1.StatefulSet, error) { return set(), nil }).
				ReconcileWhen("wanted", wanted)
		}, false},
		{"a Namespace", func(b builder) {
			dependent.Typed(b, "node", func(r run) (*corev1.Namespace, error) {
				return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: r.Primary().Namespace + "-data"}}, nil
			}).ReconcileWhen("wanted", wanted)
		}, true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t)
			runner := w.runner(t, test.declare, workflow.Options{OrderedDeletion: true})
			if row, _ := w.reconcile(t, runner); row.Err != nil {
				t.Fatal(row.Err)
			}
			w.primary.Annotations = map[string]string{"unwanted": ""}
			row, sent := w.reconcile(t, runner)
			if test.protected {
				wantRow(t, row, workflow.Deleting, "DataProtected")
				wantSent(t, sent)
				if !strings.Contains(row.Message, "DeletesData()") || !strings.Contains(row.Message, "data") {
					t.Errorf("the message %q doesn't say what to do", row.Message)
				}
				// Deleting the primary is its user's word.
				row, sent = w.cleanup(t, runner)
			}
			wantRow(t, row, workflow.Deleting, "Terminating")
			if len(sent) != 1 {
				t.Errorf("sent %v, want one delete", sent)
			}
		})
	}
}

func TestPropagation(t *testing.T) { // R40 J18
	w := newWorld(t)
	runner := w.runner(t, func(b builder) {
		dependent.Typed(b, "node", func(run) (*appsv1.Deployment, error) { return deployment("web"), nil }).
			Propagation(metav1.DeletePropagationForeground)
	}, workflow.Options{OrderedDeletion: true})
	w.reconcile(t, runner)
	_, sent := w.cleanup(t, runner)
	wantSent(t, sent, "delete deployments.apps")
	live := read[appsv1.Deployment](t, w, "web")
	if live.DeletionTimestamp == nil || len(live.Finalizers) != 1 || live.Finalizers[0] != metav1.FinalizerDeleteDependents {
		t.Errorf("deleted at %v, finalizers %v", live.DeletionTimestamp, live.Finalizers)
	}
}

// SPDX-License-Identifier: Apache-2.0

package dependent_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/cluster"

	"github.com/espalier-dev/espalier/dependent"
	"github.com/espalier-dev/espalier/workflow"
)

// With the fields of others left out of the cache nothing changes: no request at rest and after a restart, one write
// per drift, and what somebody has copied is still not ours.
func TestKeepOwnFields(t *testing.T) { // R31 R49
	slim := func(o *cluster.Options) { o.Cache.DefaultTransform = dependent.KeepOwnFields(operator) }
	w := newWorld(t, slim)
	declare := func(b builder) {
		dependent.Typed(b, "node", func(run) (*corev1.ConfigMap, error) {
			return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "settings"}, Data: map[string]string{"level": "info"}}, nil
		})
	}
	ordered := workflow.Options{OrderedDeletion: true}
	runner := w.runner(t, declare, ordered)
	w.reconcile(t, runner)
	w.patch(t, read[corev1.ConfigMap](t, w, "settings"), `{"data":{"theirs":"yes"}}`)
	w = w.restarted(t, slim)
	runner = w.runner(t, declare, ordered)
	_, sent := w.reconcile(t, runner)
	wantSent(t, sent)
	w.patch(t, read[corev1.ConfigMap](t, w, "settings"), `{"data":{"level":"debug"}}`)
	_, sent = w.reconcile(t, runner)
	wantSent(t, sent, "apply configmaps")

	cached := &corev1.ConfigMap{}
	if err := w.cluster.GetCache().Get(t.Context(), types.NamespacedName{Namespace: w.namespace, Name: "settings"}, cached); err != nil {
		t.Fatal(err)
	}
	for _, entry := range cached.ManagedFields {
		if own := entry.Manager == operator; own != (entry.FieldsV1 != nil) {
			t.Errorf("the cache keeps of %s: %v", entry.Manager, entry.FieldsV1)
		}
	}

	theirs := read[corev1.ConfigMap](t, w, "settings").DeepCopy()
	theirs.ObjectMeta = metav1.ObjectMeta{Name: "copy", Namespace: w.namespace, Labels: theirs.Labels}
	w.create(t, theirs)
	w = w.restarted(t, slim)
	w.cleanup(t, w.runner(t, declare, ordered))
	if err := w.others.Get(t.Context(), client.ObjectKeyFromObject(theirs), theirs); err != nil {
		t.Errorf("a copy was deleted: %v", err)
	}
	if _, err := dependent.KeepOwnFields("x")(toolscache.DeletedFinalStateUnknown{}); err != nil {
		t.Errorf("a tombstone: %v", err)
	}
}

// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"context"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	crcontroller "sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/espalier-dev/espalier/dependent"
)

// watch adds the controller to the manager, with one watch per kind, however many nodes manage it.
func (c *controller[P]) watch(mgr ctrl.Manager) error {
	b := ctrl.NewControllerManagedBy(mgr).Named(c.options.Name).
		For(c.fresh(), builder.WithPredicates(specChanged())).
		WithOptions(crcontroller.Options{MaxConcurrentReconciles: c.options.MaxConcurrentReconciles})
	watched := map[schema.GroupVersionKind]bool{}
	for _, resource := range c.runner.Resources() {
		w, ok := resource.(interface{ Watches() []dependent.Watch })
		if !ok {
			continue
		}
		for _, kind := range w.Watches() {
			if !watched[kind.Kind] {
				watched[kind.Kind] = true
				b = b.Watches(kind.Object, c.wake())
			}
		}
	}
	return b.Complete(c)
}

// specChanged passes changes of everything but status, which only we write.
func specChanged() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		a, b := e.ObjectOld, e.ObjectNew
		return a.GetGeneration() != b.GetGeneration() || a.GetUID() != b.GetUID() ||
			!slices.Equal(a.GetFinalizers(), b.GetFinalizers()) ||
			!a.GetDeletionTimestamp().Equal(b.GetDeletionTimestamp()) ||
			!maps.Equal(a.GetLabels(), b.GetLabels()) || !maps.Equal(a.GetAnnotations(), b.GetAnnotations())
	}}
}

// wake enqueues the primary whose UID an object carries; if the label was taken off, the one that it carried before.
func (c *controller[P]) wake() handler.EventHandler {
	type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]
	add := func(q queue, obj client.Object) {
		if name, ok := c.primaryOf(obj); ok {
			q.Add(reconcile.Request{NamespacedName: name})
		}
	}
	return handler.Funcs{
		CreateFunc: func(_ context.Context, e event.CreateEvent, q queue) { add(q, e.Object) },
		UpdateFunc: func(_ context.Context, e event.UpdateEvent, q queue) {
			if e.ObjectOld.GetResourceVersion() == e.ObjectNew.GetResourceVersion() {
				return // a resync: nothing has happened
			}
			add(q, e.ObjectOld)
			add(q, e.ObjectNew)
		},
		DeleteFunc:  func(_ context.Context, e event.DeleteEvent, q queue) { add(q, e.Object) },
		GenericFunc: func(_ context.Context, e event.GenericEvent, q queue) { add(q, e.Object) },
	}
}

func (c *controller[P]) primaryOf(obj client.Object) (types.NamespacedName, bool) {
	uid := types.UID(obj.GetLabels()[c.ownerLabel])
	if uid == "" {
		return types.NamespacedName{}, false
	}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	name, ok := c.primaries[uid]
	return name, ok
}

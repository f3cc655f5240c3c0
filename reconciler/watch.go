// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"context"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	crcontroller "sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"
)

// watch adds the controller to the manager.
func (c *controller[P]) watch(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).Named(c.options.Name).
		For(c.fresh(), builder.WithPredicates(specChanged())).
		WatchesRawSource(dependents[P]{c}).
		WithOptions(crcontroller.Options{MaxConcurrentReconciles: c.options.MaxConcurrentReconciles}).
		Complete(c)
}

// dependents is the source of events of what the primaries have.
type dependents[P client.Object] struct{ controller *controller[P] }

var _ source.SyncingSource = dependents[client.Object]{}

// Start begins to enqueue the primaries that something has happened to.
func (d dependents[P]) Start(ctx context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
	c := d.controller
	c.engine.Watch(ctx, func(primary types.UID) {
		if name, ok := c.nameOf(primary); ok {
			queue.Add(reconcile.Request{NamespacedName: name})
		}
	}, func() {
		for _, name := range c.names() {
			queue.Add(reconcile.Request{NamespacedName: name})
		}
	})
	return nil
}

// WaitForSync waits for the kinds that can be read.
func (d dependents[P]) WaitForSync(ctx context.Context) error {
	return d.controller.engine.WaitForSync(ctx)
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

// nameOf returns where a primary is that has been reconciled.
func (c *controller[P]) nameOf(primary types.UID) (types.NamespacedName, bool) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	name, ok := c.primaries[primary]
	return name, ok
}

// names returns where the primaries are that have been reconciled.
func (c *controller[P]) names() []types.NamespacedName {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return slices.Collect(maps.Keys(c.uids))
}

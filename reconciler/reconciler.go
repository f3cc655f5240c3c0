// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/espalier-dev/espalier/dependent"
	"github.com/espalier-dev/espalier/internal/overlay"
	"github.com/espalier-dev/espalier/workflow"
)

// Reconciler is a workflow as a controller. It may be set up in any number of managers.
type Reconciler[P client.Object] struct {
	workflow *workflow.Workflow[P]
	options  Options[P]
}

// New makes a Reconciler of a workflow. Nothing is checked before [Reconciler.SetupWithManager].
func New[P client.Object](w *workflow.Workflow[P], o Options[P]) *Reconciler[P] {
	o.Name = cmp.Or(o.Name, w.Name())
	o.Prefix = cmp.Or(o.Prefix, "espalier.dev")
	return &Reconciler[P]{workflow: w, options: o}
}

// SetupWithManager binds the workflow to the manager, checks that everything it needs is there, and adds the
// controller. It returns all that is wrong at once.
func (r *Reconciler[P]) SetupWithManager(mgr ctrl.Manager) error {
	c, err := r.bind(mgr)
	if err != nil {
		return fmt.Errorf("setting up controller %q: %w", r.options.Name, err)
	}
	if err := c.watch(mgr); err != nil {
		return fmt.Errorf("setting up controller %q: %w", r.options.Name, err)
	}
	return nil
}

// controller is a Reconciler in one manager.
type controller[P client.Object] struct {
	options    Options[P]
	client     client.Client
	cache      cache.Cache
	engine     *dependent.Engine
	runner     *workflow.Runner[P]
	take       func(P) // the status off a primary
	fields     statusFields
	finalizer  string
	ownerLabel string
	// written holds what our writes to primaries were answered until the cache shows it.
	written overlay.Overlay

	mutex     sync.Mutex
	primaries map[types.UID]types.NamespacedName
	uids      map[types.NamespacedName]types.UID
}

var _ reconcile.Reconciler = (*controller[client.Object])(nil)

func (r *Reconciler[P]) bind(mgr ctrl.Manager) (*controller[P], error) {
	c := &controller[P]{
		options: r.options, client: mgr.GetClient(), cache: mgr.GetCache(),
		finalizer: r.options.Prefix + "/" + r.workflow.Name(),
		primaries: map[types.UID]types.NamespacedName{}, uids: map[types.NamespacedName]types.UID{},
	}
	var errs []error
	if gvk, err := apiutil.GVKForObject(c.fresh(), mgr.GetScheme()); err != nil {
		errs = append(errs, fmt.Errorf(
			"finding the kind of the primary: %w: add it to the manager's scheme, or set Options.GroupVersionKind", err))
	} else {
		c.options.GroupVersionKind = gvk
	}
	var err error
	if c.take, c.fields, err = takeStatus[P](); err != nil {
		errs = append(errs, err)
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	c.engine, err = dependent.NewEngine(mgr, dependent.EngineOptions{
		FieldManager: r.options.Name, Primary: c.options.GroupVersionKind, Prefix: r.options.Prefix,
	})
	if err != nil {
		return nil, err
	}
	c.ownerLabel = c.engine.OwnerLabel()
	c.runner, err = workflow.NewRunner(r.workflow, c.engine, workflow.Options{
		MaxConcurrentNodes: r.options.MaxConcurrentNodes, OrderedDeletion: r.options.OrderedDeletion, Observer: observer{},
	})
	return c, err
}

// fresh returns an empty primary.
func (c *controller[P]) fresh() P {
	p, _ := reflect.TypeAssert[P](reflect.New(reflect.TypeFor[P]().Elem()))
	if u, ok := any(p).(*unstructured.Unstructured); ok {
		u.SetGroupVersionKind(c.options.GroupVersionKind)
	}
	return p
}

// Reconcile runs the graph once for one primary.
func (c *controller[P]) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	live, err := c.read(ctx, req.NamespacedName)
	if err != nil || isNil(live) {
		return reconcile.Result{}, err
	}
	c.know(live)
	if !live.GetDeletionTimestamp().IsZero() {
		return c.cleanup(ctx, live)
	}
	live, err = c.settleFinalizer(ctx, live, c.runner.NeedsCleanup())
	if err != nil || isNil(live) {
		return reconcile.Result{}, err
	}
	return c.run(ctx, live, c.runner.Reconcile)
}

// read returns the newest known state of a primary, or nil if it has gone. It is shared with the cache.
func (c *controller[P]) read(ctx context.Context, name types.NamespacedName) (P, error) {
	var none P
	live := c.fresh()
	err := c.cache.Get(ctx, name, live, client.UnsafeDisableDeepCopy)
	if apierrors.IsNotFound(err) {
		c.forget(name)
		return none, nil
	}
	if err != nil {
		return none, fmt.Errorf("reading the primary: %w", err)
	}
	newest, _ := c.written.Newer(c.key(live), live, "").(P)
	if newest.GetUID() != live.GetUID() {
		return live, nil
	}
	return newest, nil
}

func (c *controller[P]) key(p P) overlay.Key {
	return overlay.Key{Kind: c.options.GroupVersionKind, NamespacedName: client.ObjectKeyFromObject(p)}
}

// cleanup deletes what belongs to a primary that is being deleted, if that is ours to do.
func (c *controller[P]) cleanup(ctx context.Context, live P) (reconcile.Result, error) {
	if !c.hasFinalizer(live) {
		return reconcile.Result{}, nil
	}
	var complete bool
	result, err := c.run(ctx, live, func(ctx context.Context, s workflow.Subject[P]) *workflow.Result {
		result := c.runner.Cleanup(ctx, s)
		complete = result.Complete()
		return result
	})
	if !complete {
		return result, err
	}
	_, err = c.settleFinalizer(ctx, live, false)
	return reconcile.Result{}, err
}

// run runs the graph and writes what came of it.
func (c *controller[P]) run(
	ctx context.Context, live P, run func(context.Context, workflow.Subject[P]) *workflow.Result,
) (reconcile.Result, error) {
	primary := copyOf(live)
	c.take(primary)
	summary := c.fresh()
	subject := workflow.Subject[P]{Primary: primary, ID: string(live.GetUID()), Revision: live.GetGeneration()}
	if c.options.Summarize != nil {
		subject.Summarize = func(r *workflow.Run[P], result *workflow.Result) { c.options.Summarize(r, result, summary) }
	}
	result := run(ctx, subject)
	if c.options.OnResult != nil {
		c.options.OnResult(primary, result)
	}
	if !result.Cleanup || !result.Complete() { // nobody reads the status of what goes now
		if err := c.writeStatus(ctx, live, summary, result); err != nil {
			return reconcile.Result{}, err
		}
	}
	return outcome(result)
}

// outcome maps a result to what the queue does next. Waiting is no error, and failed nodes have their own backoff.
func outcome(result *workflow.Result) (reconcile.Result, error) {
	if after := result.RequeueAfter(); after > 0 {
		return reconcile.Result{RequeueAfter: after}, nil
	}
	if err := result.Err(); err != nil {
		return reconcile.Result{}, reconcile.TerminalError(err)
	}
	return reconcile.Result{}, nil
}

// know remembers where a primary is, so that events of its dependents, which carry its UID, find it.
func (c *controller[P]) know(p P) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	name := client.ObjectKeyFromObject(p)
	if old := c.uids[name]; old != p.GetUID() {
		delete(c.primaries, old)
		c.engine.Forget(old)
		c.runner.Forget(string(old))
	}
	c.primaries[p.GetUID()], c.uids[name] = name, p.GetUID()
}

func (c *controller[P]) forget(name types.NamespacedName) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	uid := c.uids[name]
	delete(c.uids, name)
	delete(c.primaries, uid)
	c.engine.Forget(uid)
	c.runner.Forget(string(uid))
	c.written.Drop(overlay.Key{Kind: c.options.GroupVersionKind, NamespacedName: name})
}

func isNil[P client.Object](p P) bool { return any(p) == nil || reflect.ValueOf(p).IsNil() }

// copyOf copies the top of an object: enough to take its status off without touching what is shared.
func copyOf[P client.Object](p P) P {
	if u, ok := any(p).(*unstructured.Unstructured); ok {
		copied, _ := any(&unstructured.Unstructured{Object: u.Object}).(P)
		return copied
	}
	v := reflect.New(reflect.TypeOf(p).Elem())
	v.Elem().Set(reflect.ValueOf(p).Elem())
	copied, _ := reflect.TypeAssert[P](v)
	return copied
}

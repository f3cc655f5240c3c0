// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"runtime/debug"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/espalier-dev/espalier/dependent"
	"github.com/espalier-dev/espalier/internal/overlay"
	"github.com/espalier-dev/espalier/workflow"
)

// Reconciler is a workflow as a controller. It may be set up in several managers, if controller-runtime is told not to
// check that names of controllers are unique in the process.
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
// controller. It returns every mistake of the first of these that fails.
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
	options  Options[P]
	workflow string
	client   client.Client
	cache    cache.Cache
	engine   *dependent.Engine
	runner   *workflow.Runner[P]
	// cleaner deletes what belongs to a primary with our finalizer. It does so in order also if that isn't asked for any
	// more: what was written when it was has no owner reference, and the collector would leave it.
	cleaner    *workflow.Runner[P]
	take       func(P) // the status off a primary
	fields     statusFields
	finalizer  string
	ownerLabel string
	// written holds what our writes to primaries were answered until the cache shows it.
	written overlay.Overlay

	mutex     sync.Mutex
	looked    map[types.UID]int64 // for what is unclaimed, at this generation
	primaries map[types.UID]types.NamespacedName
	uids      map[types.NamespacedName]types.UID
}

var _ reconcile.Reconciler = (*controller[client.Object])(nil)

func (r *Reconciler[P]) bind(mgr ctrl.Manager) (*controller[P], error) {
	c := &controller[P]{
		options: r.options, workflow: r.workflow.Name(), client: mgr.GetClient(), cache: mgr.GetCache(),
		finalizer: r.options.Prefix + "/" + r.workflow.Name(),
		looked:    map[types.UID]int64{},
		primaries: map[types.UID]types.NamespacedName{}, uids: map[types.NamespacedName]types.UID{},
	}
	var errs []error
	var err error
	if c.take, c.fields, err = takeStatus[P](); err != nil {
		return nil, err // there is no primary to find the kind of
	}
	if gvk, err := apiutil.GVKForObject(c.fresh(), mgr.GetScheme()); err != nil {
		errs = append(errs, fmt.Errorf(
			"finding the kind of the primary: %w: add it to the manager's scheme, or set Options.GroupVersionKind", err))
	} else {
		c.options.GroupVersionKind = gvk
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	c.engine, err = dependent.NewEngine(mgr, dependent.EngineOptions{
		FieldManager: r.options.Name, Primary: c.options.GroupVersionKind, Prefix: r.options.Prefix,
		FormerManagers: r.options.FormerManagers, Clusters: r.options.Clusters,
	})
	if err != nil {
		return nil, err
	}
	c.ownerLabel = c.engine.OwnerLabel()
	c.runner, err = c.bindTo(r.workflow, r.options.OrderedDeletion)
	c.cleaner = c.runner
	if err == nil && !c.runner.NeedsCleanup() {
		c.cleaner, err = c.bindTo(r.workflow, true)
	}
	return c, err
}

func (c *controller[P]) bindTo(w *workflow.Workflow[P], ordered bool) (*workflow.Runner[P], error) {
	return workflow.NewRunner(w, c.engine, workflow.Options{
		MaxConcurrentNodes: c.options.MaxConcurrentNodes, OrderedDeletion: ordered, Observer: observer{},
	})
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
	if c.runner.NeedsCleanup() {
		live, err = c.settleFinalizer(ctx, live, true)
		if err != nil || isNil(live) {
			return reconcile.Result{}, err
		}
		if err := c.dropFormerFinalizers(ctx, live); err != nil {
			return reconcile.Result{}, err
		}
	}
	result, next, err := c.run(ctx, live, c.runner.Reconcile)
	if err == nil && result.Ready() && !c.runner.NeedsCleanup() {
		// Only now does every object carry its owner reference.
		err = c.letGo(ctx, live)
	}
	return next, err
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
	if !c.isHeld(live) {
		return reconcile.Result{}, nil
	}
	result, next, err := c.run(ctx, live, c.cleaner.Cleanup)
	if err != nil || !result.Complete() {
		return next, err
	}
	left, err := c.engine.Remains(ctx, live, c.workflow, func(node string) bool {
		return result.Node(node).State == workflow.Deleted
	})
	if err != nil {
		return reconcile.Result{}, err
	}
	if left != "" {
		log.FromContext(ctx).Info("Something is left that the cache doesn't show", "object", left)
		return reconcile.Result{RequeueAfter: lookAgain}, nil
	}
	return reconcile.Result{}, c.letGo(ctx, live)
}

// lookAgain is after how long a cleanup goes on that waits for the cache.
const lookAgain = 5 * time.Second

// run runs the graph and writes what came of it.
func (c *controller[P]) run(
	ctx context.Context, live P, run func(context.Context, workflow.Subject[P]) *workflow.Result,
) (*workflow.Result, reconcile.Result, error) {
	primary, summary := c.private(live), c.fresh()
	subject := workflow.Subject[P]{Primary: primary, ID: string(live.GetUID()), Revision: live.GetGeneration()}
	if c.options.Summarize != nil {
		subject.Summarize = func(r *workflow.Run[P], result *workflow.Result) {
			if c.guard(ctx, "Summarize", func() { c.options.Summarize(r, result, summary) }) {
				summary = c.fresh()
			}
		}
	}
	result := run(ctx, subject)
	if c.options.OnResult != nil {
		c.guard(ctx, "OnResult", func() { c.options.OnResult(primary, result) })
	}
	if !result.Cleanup || !result.Complete() { // nobody reads the status of what goes now
		if err := c.writeStatus(ctx, live, summary, result); err != nil {
			return result, reconcile.Result{}, err
		}
	}
	if err := context.Cause(ctx); err != nil {
		return result, reconcile.Result{}, fmt.Errorf("running the graph: %w", err)
	}
	if !result.Cleanup && result.Ready() {
		c.reportUnclaimed(ctx, live, result)
	}
	next, err := outcome(result)
	return result, next, err
}

// private returns a copy of the primary that author code may read in any way, without status and managed fields.
func (c *controller[P]) private(live P) P {
	top := copyOf(live)
	c.take(top)
	primary, _ := top.DeepCopyObject().(P)
	return primary
}

// guard calls author code that isn't a node's, and reports whether it panicked: the status is written all the same.
func (c *controller[P]) guard(ctx context.Context, what string, call func()) (panicked bool) {
	defer func() {
		if p := recover(); p != nil {
			panicked = true
			log.FromContext(ctx).Error(fmt.Errorf("panic: %v", p), "Author code panicked",
				"function", what, "stack", string(debug.Stack()))
		}
	}()
	call()
	return false
}

// outcome maps a result to what the queue does next. Waiting is no error, and failed nodes have their own backoff; only
// if all failures are for good, and nothing asks for another run, is there nothing to try again.
func outcome(result *workflow.Result) (reconcile.Result, error) {
	if after := result.RequeueAfter(); after > 0 {
		return reconcile.Result{RequeueAfter: after}, nil
	}
	err := result.Err()
	if err == nil {
		return reconcile.Result{}, nil
	}
	for i := range result.Nodes {
		if failed := result.Nodes[i].Err; failed != nil && !workflow.IsTerminal(failed) {
			return reconcile.Result{}, err
		}
	}
	return reconcile.Result{}, reconcile.TerminalError(err)
}

// know remembers where a primary is, so that events of its dependents, which carry its UID, find it.
func (c *controller[P]) know(p P) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	name := client.ObjectKeyFromObject(p)
	if old := c.uids[name]; old != p.GetUID() {
		delete(c.primaries, old)
		delete(c.looked, old)
		c.engine.Forget(old)
		c.runner.Forget(string(old))
		c.cleaner.Forget(string(old))
	}
	c.primaries[p.GetUID()], c.uids[name] = name, p.GetUID()
}

func (c *controller[P]) forget(name types.NamespacedName) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	uid := c.uids[name]
	delete(c.uids, name)
	delete(c.primaries, uid)
	delete(c.looked, uid)
	c.engine.Forget(uid)
	c.runner.Forget(string(uid))
	c.cleaner.Forget(string(uid))
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

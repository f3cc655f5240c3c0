// SPDX-License-Identifier: Apache-2.0

package workflow

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"math/rand/v2"
	"sync"
)

// Options of a [Runner]. The zero value is ready to use.
type Options struct {
	// MaxConcurrent is how many nodes of one run execute at once; default 16. With 1 a run is deterministic.
	MaxConcurrent int
	// MaxConcurrentNodes is how many nodes of all runs execute at once; default 64.
	MaxConcurrentNodes int
	// OrderedDeletion deletes every node in a cleanup, in reverse order, and leaves none to the garbage collector.
	OrderedDeletion bool
	// Observer is told what happens; default none.
	Observer Observer
	// Jitter returns a number in [0, 1) that spreads the delays of retries; default random.
	Jitter func() float64
}

// Observer is told of nodes that do something. It is called from the goroutines that execute them, concurrently.
type Observer interface {
	// NodeStarted is called before a node's Do. The context that it returns is the one that Do gets.
	NodeStarted(ctx context.Context, at NodeID) context.Context
	// NodeEnded is called after it, with the context that NodeStarted returned.
	NodeEnded(ctx context.Context, at NodeID, operation Operation, err error)
	// Panicked is called when a function of a node panicked; the stack is that of the panic.
	Panicked(ctx context.Context, at NodeID, value any, stack []byte)
}

// NodeID says which node of which primary.
type NodeID struct {
	Primary string // the ID of the [Subject]
	Node    string // "" of a check or a summary
	Key     string // of an instance in a [Repeat]
}

// Subject is what a run is for.
type Subject[P any] struct {
	Primary P
	// ID tells primaries apart for as long as the process lives, like a UID: what the Runner remembers is kept by it.
	ID string
	// Revision changes whenever what the user wants has changed, like a generation.
	Revision int64
	// Summarize, if set, is called once at the end of the run, on the calling goroutine. Its Run may read every node
	// with Lookup. A panic in it isn't recovered.
	Summarize func(r *Run[P], result *Result)
}

// Runner is a workflow bound to one environment. It is safe for concurrent use, for different primaries; runs for the
// same primary must not overlap.
type Runner[P any] struct {
	workflow  *Workflow[P]
	env       any
	options   Options
	resources []resource[P]
	collected []bool // by node: left to the garbage collector
	cleanup   bool   // some node isn't
	slots     chan struct{}
	memories  memories
	hung      hung
	scratch   sync.Pool // of *scratch[P]
}

// NewRunner binds every kind of w to env, which is opaque here, and returns all errors of that, joined.
func NewRunner[P any](w *Workflow[P], env any, o Options) (*Runner[P], error) {
	o.MaxConcurrent = cmp.Or(max(o.MaxConcurrent, 0), 16)
	o.MaxConcurrentNodes = cmp.Or(max(o.MaxConcurrentNodes, 0), 64)
	if o.Jitter == nil {
		o.Jitter = rand.Float64
	}
	r := &Runner[P]{
		workflow: w, env: env, options: o,
		resources: make([]resource[P], len(w.nodes)),
		slots:     make(chan struct{}, o.MaxConcurrentNodes),
		memories:  memories{of: map[string]*memory{}},
	}
	var errs []error
	for _, name := range w.graph.late {
		errs = append(errs, &NodeError{Node: name, Err: errLate})
	}
	for i, n := range w.nodes {
		bound, err := n.bind(env)
		if err != nil {
			errs = append(errs, &NodeError{Node: n.name, Err: err})
		}
		r.resources[i] = bound
		if err == nil && n.depth() > 0 && n.manages {
			if _, ok := bound.unwrap().(lister[P]); !ok {
				errs = append(errs, &NodeError{Node: n.name, Err: errNoKeys})
			}
		}
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	r.leaveToCollector()
	return r, nil
}

// leaveToCollector decides which nodes the garbage collector may remove: those whose whole connected part of the graph
// it can remove without a condition, since it knows no order.
func (r *Runner[P]) leaveToCollector() {
	r.collected = make([]bool, len(r.resources))
	part := r.workflow.links.parts()
	kept := make(map[int32]bool)
	for i, n := range r.workflow.nodes {
		if n.manages && !r.collectable(i, n) {
			kept[part[i]], r.cleanup = true, true
		}
	}
	for i, n := range r.workflow.nodes {
		r.collected[i] = n.manages && !kept[part[i]]
	}
}

func (r *Runner[P]) collectable(i int, n *node[P]) bool {
	c, ok := r.resources[i].unwrap().(interface{ Collectable() bool })
	return ok && c.Collectable() && !n.cleanup && !r.options.OrderedDeletion && len(n.remove) == 0 && len(n.removed) == 0
}

// NeedsCleanup reports whether deleting a primary takes a [Runner.Cleanup]; otherwise all of it is left to the garbage
// collector.
func (r *Runner[P]) NeedsCleanup() bool { return r.cleanup }

// Resources yields the name and the bound [Resource] of every node, for set-up to ask what it wants watched.
func (r *Runner[P]) Resources() iter.Seq2[string, any] {
	return func(yield func(string, any) bool) {
		for i, n := range r.workflow.nodes {
			if !yield(n.name, r.resources[i].unwrap()) {
				return
			}
		}
	}
}

// Reconcile runs the workflow for a primary that lives. It returns once everything that it started has ended.
func (r *Runner[P]) Reconcile(ctx context.Context, s Subject[P]) *Result {
	x := r.newExecution(ctx, s, mode{})
	if err := x.validate(); err != nil {
		return x.refuse(err)
	}
	return x.run()
}

// Cleanup deletes everything, for a primary that is being deleted. It is to be repeated until the result is Complete.
func (r *Runner[P]) Cleanup(ctx context.Context, s Subject[P]) *Result {
	return r.newExecution(ctx, s, mode{cleanup: true}).run()
}

// Forget drops what is remembered of a primary, which has gone.
func (r *Runner[P]) Forget(id string) { r.memories.drop(id) }

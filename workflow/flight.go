// SPDX-License-Identifier: Apache-2.0

package workflow

import (
	"context"
	"runtime/debug"
	"sync/atomic"
	"time"
)

const (
	defaultTimeout = time.Minute
	// grace is how long a function may take to return once its context has ended. Then the run goes on without it.
	grace = 5 * time.Second
)

// flight is the execution of one vertex's function beside the run, until it lands on the run's goroutine.
type flight[P any] struct {
	leash
	x      *execution[P]
	vertex int32
	task   task
	began  time.Duration // since the run began, as all times of flights: reading that clock is cheap
	// gone says that the run doesn't wait for it any more, or that it has returned: whoever sets it first decides.
	gone atomic.Bool
	over bool          // its context has ended, and its grace runs
	due  time.Duration // when the run has to do something about it

	// What it does, and what came of it.
	step      prepared
	removal   *Removal
	preview   *Preview
	cause     error // the failure that it answers
	operation Operation
	took      time.Duration
	err       error
}

// task is what a flight is for.
type task uint8

const (
	reconciling task = iota
	removing
	answering
	previewing
	pruning
)

func (x *execution[P]) newFlight(v int32, t task) *flight[P] {
	return &flight[P]{leash: leash{run: x.ctx}, x: x, vertex: v, task: t}
}

// fly holds a slot until the function returns, or is abandoned.
func (f *flight[P]) fly() {
	f.err = errExited
	defer f.touchDown() // also if the function ends its goroutine
	f.perform()
}

func (f *flight[P]) touchDown() {
	f.took = time.Since(f.origin) - f.began
	f.end(context.Canceled)
	if f.gone.Swap(true) {
		f.x.runner.hung.remove(f.x.identity(f.vertex))
		return
	}
	<-f.x.runner.slots
	f.x.landed <- f
}

// perform calls the author's code inside the observer's hooks. What most executions need has small frames of its own,
// so that a new goroutine's stack doesn't have to grow.
func (f *flight[P]) perform() {
	if f.x.runner.options.Observer != nil {
		f.performObserved()
		return
	}
	f.execute(&f.leash)
}

func (f *flight[P]) performObserved() {
	defer f.recovered() // of the observer
	observer, at := f.x.runner.options.Observer, f.x.nodeID(f.vertex)
	ctx := observer.NodeStarted(&f.leash, at)
	defer func() { observer.NodeEnded(ctx, at, f.operation, f.err) }()
	f.execute(ctx)
}

func (f *flight[P]) execute(ctx context.Context) {
	defer f.recovered()
	switch f.task {
	case reconciling:
		f.operation, f.err = f.x.resource(f.vertex).do(ctx, &f.step)
	case removing, pruning:
		f.remove(ctx)
	case answering:
		f.answer(ctx)
		return
	case previewing:
		f.dryRun(ctx)
	}
	if f.err == nil {
		f.err = f.x.views[f.vertex].unseen // an observation that couldn't be made is no absence
	}
	if f.err != nil {
		f.err = f.x.node(f.vertex).veiled(f.err)
	}
}

func (f *flight[P]) remove(ctx context.Context) {
	after, err := f.removal.Do(ctx)
	f.removal, f.operation, f.err = &after, after.Operation, err
}

// answer has a view of its own: an abandoned Do may still use that of the vertex.
func (f *flight[P]) answer(ctx context.Context) {
	view := &Run[P]{x: f.x, vertex: f.vertex, executing: true}
	f.err = f.x.node(f.vertex).onFailure(ctx, view, f.cause)
}

func (f *flight[P]) dryRun(ctx context.Context) {
	preview, err := f.x.resource(f.vertex).unwrap().(dryRunner[P]).DryRun(ctx, &f.x.views[f.vertex])
	f.preview, f.err = &preview, err
}

func (f *flight[P]) recovered() {
	if p := recover(); p != nil {
		f.err = f.x.panicked(f.x.node(f.vertex), p, debug.Stack())
	}
}

// land takes in what came of a flight.
func (x *execution[P]) land(f *flight[P]) {
	v := f.vertex
	if f.task == answering {
		x.hear(f)
		x.settle(v)
		return
	}
	if f.task == pruning {
		x.cleared(f)
		return
	}
	x.row(v).Duration = f.took
	switch {
	case f.task == previewing:
		x.previewed(f)
	case f.task == reconciling && f.err == nil:
		x.reconciled(v, &f.step, f.operation)
	case f.task == reconciling:
		x.row(v).Operation = f.operation // it may have begun something
		x.erred(v, f.step.intent, f.err)
	case f.err == nil:
		x.removed(v, *f.removal)
	default:
		x.erred(v, deletion, f.err)
	}
	x.conclude(v)
}

func (x *execution[P]) nodeID(v int32) NodeID {
	return NodeID{x.subject.ID, x.node(v).name, x.layout.vertices[v].key()}
}

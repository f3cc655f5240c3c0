// SPDX-License-Identifier: Apache-2.0

package workflow

import (
	"context"
	"runtime/debug"
)

// execution is one run. Everything in it belongs to the goroutine that called the Runner; other goroutines execute what
// a Resource returned as Do, and hand back what came of it.
type execution[P any] struct {
	runner  *Runner[P]
	layout  *layout[P]
	ctx     context.Context //nolint:containedctx // it lives exactly as long as the call that it came with
	subject Subject[P]
	cleanup bool
	deletes bool // something is to be deleted
	memory  *memory
	shared  []*Verdict // of groups' conditions

	views []Run[P]
	cells []cell
	out   []NodeResult

	reconciling, deleting queue
	landed                chan *flight
	flying                int
}

// cell is what a run knows of a vertex beyond its row.
type cell struct {
	value     any
	causes    *causes // why it waits
	self      *causes // itself, as a cause
	waits     int32   // for so many arcs to settle before its turn
	relays    int32   // so many users beyond it haven't let go yet
	planned   planned
	exists    existence
	applied   bool // reconciled in this run
	gone      bool // deleted, and seen to be gone
	settled   bool // it won\'t change any more in this run
	relayed   bool // beyond is known
	answering bool // its failure is being answered
	beyond    *causes
}

type existence uint8

const (
	notAsked existence = iota
	exists
	missing
	unsure
)

func (r *Runner[P]) newExecution(ctx context.Context, s Subject[P], cleanup bool) *execution[P] {
	l := r.workflow.layout
	n := len(l.vertices)
	x := &execution[P]{
		runner: r, layout: l, ctx: ctx, subject: s, cleanup: cleanup,
		memory:      r.memories.get(s.ID),
		views:       make([]Run[P], n),
		cells:       make([]cell, n),
		out:         make([]NodeResult, n),
		reconciling: newQueue(l.reconciles.rank, l.reconciles.vertex),
		deleting:    newQueue(l.deletes.rank, l.deletes.vertex),
		landed:      make(chan *flight, r.options.MaxConcurrent),
	}
	for v := range x.views {
		x.views[v] = Run[P]{x: x, vertex: int32(v)}
		x.out[v].Name = l.vertices[v].node.name
	}
	return x
}

func (x *execution[P]) node(v int32) *node[P] { return x.layout.vertices[v].node }

func (x *execution[P]) resource(v int32) resource[P] {
	return x.runner.resources[x.layout.vertices[v].node.index]
}

func (x *execution[P]) result(invalid error) *Result {
	result := &Result{Nodes: x.out, Cleanup: x.cleanup, Invalid: invalid, graph: x.runner.workflow.picture}
	if x.subject.Summarize != nil {
		x.subject.Summarize(&Run[P]{x: x, vertex: nobody, executing: true}, result)
	}
	return result
}

// existsNow says, once per run, whether the dependent of v is there.
func (x *execution[P]) existsNow(v int32) existence {
	c := &x.cells[v]
	if c.exists == notAsked {
		c.exists = missing
		presence, err := x.observed(v)
		switch {
		case err != nil || presence == Indeterminate:
			c.exists = unsure
		case presence == Present:
			c.exists = exists
		}
	}
	return c.exists
}

func (x *execution[P]) observed(v int32) (presence Presence, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = x.panicked(v, p, debug.Stack())
		}
	}()
	_, presence, err = x.resource(v).observe(&x.views[v])
	return presence, err
}

// inline calls a function of v's resource on the run's goroutine. A panic is its error; so is what it couldn't observe
// of its own, which is no absence.
func inline[P, O any](x *execution[P], v int32, call func(r *Run[P]) (O, error)) (out O, err error) {
	view := &x.views[v]
	view.unseen = nil
	defer func() {
		if p := recover(); p != nil {
			err = x.panicked(v, p, debug.Stack())
		}
		if err == nil {
			err = view.unseen
		}
	}()
	return call(view)
}

// execute calls the author's code inside the observer's hooks. A panic is returned as an error.
func execute[P, O any](
	ctx context.Context, x *execution[P], v int32, do func(context.Context) (O, error), operation func(O) Operation,
) (out O, err error) {
	recovered := func() {
		if p := recover(); p != nil {
			err = x.panicked(v, p, debug.Stack())
		}
	}
	defer recovered() // of the observer
	if observer := x.runner.options.Observer; observer != nil {
		ctx = observer.NodeStarted(ctx, x.subject.ID, x.out[v].Name)
		defer func() { observer.NodeEnded(ctx, x.subject.ID, x.out[v].Name, operation(out), err) }()
	}
	defer recovered()
	return do(ctx)
}

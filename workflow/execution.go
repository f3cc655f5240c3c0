// SPDX-License-Identifier: Apache-2.0

package workflow

import (
	"context"
	"runtime/debug"
	"time"
)

// execution is one run. Everything in it belongs to the goroutine that called the Runner; other goroutines execute what
// a Resource returned as Do, and hand back what came of it.
type execution[P any] struct {
	runner  *Runner[P]
	layout  *layout[P]
	ctx     context.Context //nolint:containedctx // it lives exactly as long as the call that it came with
	subject Subject[P]
	mode
	deletes bool // something is to be deleted
	memory  *memory
	shared  map[sharedKey]Verdict // of groups' conditions
	claimed map[string]int32      // to the vertex that has it

	predicates map[predicate]Verdict // that have been asked; nil as long as each is asked once anyway

	*scratch[P]
	out []NodeResult

	step prepared // of the vertex that is being prepared
	left int      // so many vertices have a turn yet
	airspace[P]
	relays []relay      // by vertex; only if something is to be deleted
	prunes bool         // something may be left of what nodes have made before
	parked []*flight[P] // held back by the bounds of a Repeat
}

// mode is what a run is for.
type mode struct {
	cleanup bool
	dry     bool // nothing is executed, it is only said what would be
}

// mark is what a run looks at whenever it comes along a vertex, kept small for the sake of caches.
type mark struct {
	waits    int32 // for so many arcs to settle before its turn
	planned  planned
	exists   existence
	ready    bool // it is Ready
	applied  bool // reconciled in this run
	gone     bool // deleted, and seen to be gone
	settled  bool // it won't change any more in this run
	doubtful bool // its edges may not be satisfied though all have settled
	changes  bool // in a dry run: it would be written, or isn't known since something before it would
}

// cell is what a run knows of a vertex beyond its mark and its row.
type cell struct {
	value  any
	intent uint64
	why    *causes // why it waits
	self   *causes // itself, as a cause
	prune  func() (Removal, error)
}

type existence uint8

const (
	notAsked existence = iota
	exists
	missing
	unsure
)

func (r *Runner[P]) newExecution(ctx context.Context, s Subject[P], m mode) *execution[P] {
	x := &execution[P]{runner: r, layout: r.workflow.static, ctx: ctx, subject: s, mode: m}
	x.memory = r.memories.get(s.ID)
	x.scratch = borrow(&r.scratch, r.workflow)
	if m.dry {
		x.memory = newMemory() // what is remembered neither counts nor changes
	}
	if x.layout != nil {
		x.extend()
	}
	return x
}

// extend makes room for the vertices that the layout has got.
func (x *execution[P]) extend() {
	from, to := len(x.marks), len(x.layout.vertices)
	x.marks, x.cells = more(x.marks, to), more(x.cells, to)
	x.views, x.out = more(x.views, to), more(x.out, to)
	if x.layout.conditions == 0 {
		return
	}
	answers := make([]Answer, x.layout.answers(from, to))
	for v := from; v < to; v++ {
		count := x.layout.vertices[v].node.conditions()
		x.row(int32(v)).Verdicts, answers = answers[:0:count], answers[count:]
	}
}

// more lengthens a slice, whose spare capacity is all zero, to a length.
func more[T any](s []T, length int) []T {
	if length <= cap(s) {
		return s[:length]
	}
	return append(s, make([]T, length-len(s))...)
}

func (x *execution[P]) node(v int32) *node[P] { return x.layout.vertices[v].node }

func (x *execution[P]) row(v int32) *NodeResult {
	if x.layout.rows != nil {
		v = x.layout.rows[v]
	}
	return &x.out[v]
}

func (x *execution[P]) traits(v int32) traits { return x.layout.vertices[v].traits }

func (x *execution[P]) resource(v int32) resource[P] {
	return x.runner.resources[x.layout.vertices[v].index]
}

// view is what the functions of v are given. It is written to once, since a Do of v may be using it.
func (x *execution[P]) view(v int32) *Run[P] {
	r := &x.views[v]
	if r.x == nil {
		r.x, r.vertex = x, v
	}
	return r
}

// run plans and walks, and returns the result.
func (x *execution[P]) run() *Result {
	x.plan()
	x.reconciling.reset(x.layout.reconciles.rank, x.layout.reconciles.vertex)
	if x.deletes {
		x.deleting.reset(x.layout.deletes.rank, x.layout.deletes.vertex)
	}
	x.count()
	x.walk()
	if x.cleanup && x.beginLast() {
		x.walk()
	}
	if x.prunes {
		x.prune()
	}
	if x.alarm != nil {
		x.alarm.Stop()
	}
	x.forgetGone()
	return x.result(nil)
}

func (x *execution[P]) result(invalid error) *Result {
	rows := x.out
	if x.layout != nil && x.runner.workflow.static == nil {
		rows = make([]NodeResult, len(x.out))
		for i, v := range x.layout.declared {
			rows[i] = x.out[v]
		}
	}
	result := &Result{Nodes: rows, Cleanup: x.cleanup, Invalid: invalid, graph: x.runner.workflow.picture}
	if x.subject.Summarize != nil {
		x.subject.Summarize(&Run[P]{x: x, vertex: nobody, executing: true}, result)
	}
	x.giveBack(&x.runner.scratch)
	return result
}

// existsNow says, once per run, whether the dependent of v is there.
func (x *execution[P]) existsNow(v int32) existence {
	m := &x.marks[v]
	if m.exists == notAsked {
		m.exists = missing
		presence, err := x.observed(v)
		switch {
		case err != nil || presence == Indeterminate:
			m.exists = unsure
		case presence == Present:
			m.exists = exists
		}
	}
	return m.exists
}

func (x *execution[P]) observed(v int32) (presence Presence, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = x.panicked(x.node(v), p, debug.Stack())
		}
	}()
	_, presence, err = x.resource(v).observe(x.view(v))
	return presence, err
}

// timeout is how long an execution of v may take.
func (x *execution[P]) timeout(v int32) time.Duration {
	if d := x.node(v).timeout; d > 0 {
		return d
	}
	return defaultTimeout
}

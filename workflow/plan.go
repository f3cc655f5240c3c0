// SPDX-License-Identifier: Apache-2.0

package workflow

import (
	"fmt"
	"runtime/debug"
)

// planned is how a vertex is classified before anything is touched.
type planned uint8

const (
	wanted planned = iota
	unwanted
	inactive
	undecided // an activation or a precondition is unknown
	collected
)

// plan classifies every vertex in topological order.
func (x *execution[P]) plan() {
	for _, v := range x.layout.order {
		c := &x.cells[v]
		c.planned = x.classify(v)
		x.deletes = x.deletes || c.planned == unwanted && x.node(v).manages
		if c.planned == unwanted && !x.node(v).manages {
			x.out[v].State = Disabled
		}
	}
}

// classify asks for activation first, then follows the prerequisites, then asks for the precondition.
func (x *execution[P]) classify(v int32) planned {
	n, row := x.node(v), &x.out[v]
	switch verdict := x.askAll(v, n.activate); verdict.answer {
	case met:
	case unmet:
		row.judged(Inactive, verdict)
		return inactive
	default:
		x.unanswered(v, "ActivationUnknown", verdict)
		return undecided
	}
	without := wanted
	for _, a := range x.layout.prerequisites[v] {
		if !a.kind.required() {
			continue
		}
		switch x.cells[a.to].planned {
		case unwanted:
			row.Reason, row.Message = "PrerequisiteUnwanted", "requires "+x.out[a.to].Name
			return unwanted
		case inactive:
			without = inactive
			row.Message = "requires " + x.out[a.to].Name
		default:
		}
	}
	if without == inactive {
		row.State, row.Reason = Inactive, "PrerequisiteInactive"
		return inactive
	}
	switch verdict := x.askAll(v, n.reconcile); verdict.answer {
	case met:
		return wanted
	case unmet:
		row.judged("", verdict)
		return unwanted
	default:
		x.unanswered(v, "PreconditionUnknown", verdict)
		return undecided
	}
}

// planCleanup classifies every vertex for the deletion of the primary: only activation is asked.
func (x *execution[P]) planCleanup() {
	x.deletes = true
	for _, v := range x.layout.order {
		n, row, c := x.node(v), &x.out[v], &x.cells[v]
		switch verdict := x.askAll(v, n.activate); {
		case verdict.answer == unmet:
			row.judged(Inactive, verdict)
			c.planned = inactive
		case !verdict.Holds():
			x.unanswered(v, "ActivationUnknown", verdict)
			c.planned = undecided
		case x.runner.collected[n.index]:
			row.State = Collected
			c.planned = collected
		default:
			c.planned = unwanted
			if !n.manages {
				row.State = Deleted
			}
		}
	}
}

// askAll asks conditions of one kind, all of them, and joins what they answer.
func (x *execution[P]) askAll(v int32, conditions []condition[P]) Verdict {
	all := Met()
	for i := range conditions {
		if verdict := x.askOnce(v, &conditions[i]); verdict.worse(all) {
			all = verdict
		}
	}
	return all
}

// askOnce asks a group's condition once for all of its nodes.
func (x *execution[P]) askOnce(v int32, c *condition[P]) Verdict {
	if c.shared == 0 {
		return x.ask(v, c.name, c.holds)
	}
	if x.shared == nil {
		x.shared = make([]*Verdict, x.runner.workflow.shared)
	}
	known := &x.shared[c.shared-1]
	if *known == nil {
		verdict := x.ask(v, c.name, c.holds)
		*known = &verdict
	}
	return **known
}

// ask asks one condition that isn't about readiness. A panic, a Broken, no answer at all and an observation that
// couldn't be made are all unknown.
func (x *execution[P]) ask(v int32, name string, holds func(*Run[P]) Verdict) (verdict Verdict) {
	view := &x.views[v]
	view.unseen = nil
	defer func() {
		if p := recover(); p != nil {
			verdict = Unknown(x.panicked(v, p, debug.Stack()))
		}
		if view.unseen != nil {
			verdict = Unknown(view.unseen)
		}
		if verdict.answer == broken {
			verdict = Unknown(fmt.Errorf("it answered broken, which only readiness may be: %s", verdict.message))
		}
		if verdict.answer == unknown {
			verdict.err = fmt.Errorf("condition %q: %w", name, verdict.Err())
		}
	}()
	return holds(view)
}

func (x *execution[P]) panicked(v int32, value any, stack []byte) error {
	if _, ok := value.(misuse); !ok && x.runner.options.Observer != nil {
		name := "" // of a check, which no node has
		if v != nobody {
			name = x.out[v].Name
		}
		x.runner.options.Observer.Panicked(x.ctx, x.subject.ID, name, value, stack)
	}
	return caught(value, stack)
}

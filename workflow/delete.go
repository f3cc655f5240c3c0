// SPDX-License-Identifier: Apache-2.0

package workflow

import (
	"context"
)

// hold is how a vertex d keeps its prerequisite p from being deleted.
type hold uint8

const (
	none   hold = iota
	holds       // until d is gone, or was reconciled without p
	relays      // as whatever uses d does
)

// holding returns how d, which depends on p over an edge of the given kind, keeps p.
//
// A vertex that is inactive or manages nothing keeps nothing by itself: what uses it keeps p as if it used p. Each such
// vertex counts what still uses it, once for all that it stands before, so that the whole stays linear.
func (x *execution[P]) holding(p, d int32, kind edgeKind) hold {
	beyond, through := x.passes(p), x.passes(d)
	letsGo := kind == loose && !x.cleanup
	switch {
	case kind == gone, letsGo && (beyond || through):
		return none
	case through:
		return relays
	case x.keeps(d, letsGo, beyond || kind == optional):
		return holds
	default:
		return none
	}
}

// keeps reports whether d, which is neither inactive nor manages nothing, keeps what it uses; if it is wanted, only if
// it may do without.
func (x *execution[P]) keeps(d int32, letsGo, without bool) bool {
	switch x.cells[d].planned {
	case unwanted:
		return true
	case undecided:
		return !letsGo
	case wanted:
		return without && x.existsNow(d) != missing
	default:
		return false
	}
}

// passes reports whether one looks through v to find who keeps its prerequisites.
func (x *execution[P]) passes(v int32) bool {
	return x.cells[v].planned == inactive || !x.node(v).manages
}

// kept reports whether somebody may keep v: it is to be deleted.
func (x *execution[P]) kept(v int32) bool {
	return x.cells[v].planned == unwanted && x.node(v).manages
}

// countHolders sets for how many holders each vertex that should go has to wait.
func (x *execution[P]) countHolders() {
	for p := range x.cells {
		p := int32(p)
		c := &x.cells[p]
		kept, passes := x.kept(p), x.passes(p)
		if !kept && !passes {
			continue
		}
		count := int32(0)
		for _, a := range x.layout.downstream[p] {
			if x.holding(p, a.to, a.kind) != none {
				count++
			}
		}
		if kept {
			if c.waits = count; count == 0 {
				x.deleting.push(p)
			}
			continue
		}
		c.relays = count + 1 // one for this loop: relays let go once all have been counted
	}
	for p := range x.cells {
		if x.cells[p].relays > 0 {
			x.relay(int32(p))
		}
	}
}

// letGo is called when v has settled.
func (x *execution[P]) letGo(v int32) {
	if !x.passes(v) {
		x.release(v, holds)
	}
}

// relay takes one user from a vertex that one looks through, and lets its prerequisites go after the last.
func (x *execution[P]) relay(v int32) {
	if x.cells[v].relays--; x.cells[v].relays == 0 {
		x.release(v, relays)
	}
}

func (x *execution[P]) release(v int32, as hold) {
	for _, a := range x.layout.prerequisites[v] {
		kept, passes := x.kept(a.to), x.passes(a.to)
		if !kept && !passes || x.holding(a.to, v, a.kind) != as {
			continue
		}
		if passes {
			x.relay(a.to)
			continue
		}
		if x.cells[a.to].waits--; x.cells[a.to].waits == 0 {
			x.deleting.push(a.to)
		}
	}
}

// holders returns the root causes for which p can't go yet, or nil.
func (x *execution[P]) holders(p int32) (why *causes) {
	for _, a := range x.layout.downstream[p] {
		switch x.holding(p, a.to, a.kind) {
		case holds:
			if c := &x.cells[a.to]; !c.gone && !c.applied {
				why = x.merged(why, x.causesOf(a.to))
			}
		case relays:
			c := &x.cells[a.to]
			if !c.relayed {
				c.beyond, c.relayed = x.holders(a.to), true
			}
			why = x.merged(why, c.beyond)
		default:
		}
	}
	return why
}

// startDelete gives an unwanted vertex its turn: unless it is still held, it is asked for and deleted.
func (x *execution[P]) startDelete(v int32) (settled bool) {
	if why := x.holders(v); why != nil {
		x.blame(v, Deleting, why)
		return true
	}
	row := &x.out[v]
	switch verdict := x.askAll(v, x.node(v).remove); verdict.answer {
	case met:
	case unmet:
		row.judged(Deleting, verdict)
		return true
	default:
		x.unanswered(v, "DeleteConditionUnknown", verdict)
		return true
	}
	if x.isHung(v) { // what an abandoned execution is still writing can't be seen to be gone
		return true
	}
	removal, err := inline(x, v, x.resource(v).remove)
	switch {
	case err != nil && x.notYet(v, Deleting, err):
		return true
	case err != nil:
		x.refused(v, deletion, err)
		return true
	case removal.Do == nil:
		x.removed(v, removal)
		return true
	case x.mustRest(v, deletion):
		return true
	}
	failed := func(err error) {
		if !x.notYet(v, Deleting, err) {
			x.failed(v, deletion, err)
		}
	}
	x.launch(v, func(ctx context.Context) func() {
		after, err := execute(ctx, x, v, removal.Do, func(r Removal) Operation { return r.Operation })
		if err != nil {
			return func() { failed(err) }
		}
		return func() { x.removed(v, after) }
	}, failed)
	return false
}

// removed asks the postcondition once the resource has said that the dependent is gone.
func (x *execution[P]) removed(v int32, r Removal) {
	row := &x.out[v]
	row.Operation = r.Operation
	if !r.Gone {
		x.succeeded(v)
		row.State, row.Reason, row.Message = Deleting, r.Reason, r.Message
		return
	}
	switch verdict := x.askAll(v, x.node(v).removed); verdict.answer {
	case met:
		x.succeeded(v)
		x.cells[v].gone = true
		row.State = Disabled
		if x.cleanup {
			row.State = Deleted
		}
	case unmet:
		row.judged(Deleting, verdict)
	default:
		x.unanswered(v, "DeletedConditionUnknown", verdict)
	}
}

// SPDX-License-Identifier: Apache-2.0

package workflow

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
func (x *execution[P]) holding(p, d int32, a arc) hold {
	beyond, through := x.passes(p), x.passes(d)
	letsGo := a.kind == loose && !x.cleanup
	switch {
	case a.kind == gone, letsGo && (beyond || through):
		return none
	case x.comesFirst(p) && x.comesFirst(d):
		return none // of nodes that exist only in cleanup, the one that depends on the other comes after it
	case through:
		return relays
	case x.keeps(d, letsGo, beyond || a.kind == optional || a.bundled && a.kind != loose):
		return holds
	default:
		return none
	}
}

// keeps reports whether d, which is neither inactive nor manages nothing, keeps what it uses; if it is wanted, only if
// it may do without.
func (x *execution[P]) keeps(d int32, letsGo, without bool) bool {
	switch x.marks[d].planned {
	case unwanted:
		return true
	case undecided:
		return !letsGo
	case wanted:
		return x.cleanup || without && x.existsNow(d) != missing
	default:
		return false
	}
}

// passes reports whether one looks through v to find who keeps its prerequisites.
func (x *execution[P]) passes(v int32) bool {
	return x.marks[v].planned == inactive || !x.traits(v).has(manages) && !x.comesFirst(v)
}

// kept reports whether somebody may keep v from its turn: it is to be deleted, or exists only in this cleanup.
func (x *execution[P]) kept(v int32) bool {
	planned := x.marks[v].planned
	return planned == unwanted && x.traits(v).has(manages) || planned == wanted && x.cleanup
}

// countHolders sets for how many holders each vertex that should go has to wait.
func (x *execution[P]) countHolders() {
	for p := range x.marks {
		p := int32(p)
		kept, passes := x.kept(p), x.passes(p)
		if !kept && !passes || x.marks[p].settled && !passes {
			continue
		}
		count := int32(0)
		for _, a := range x.layout.downstream.of(p) {
			if h := x.holding(p, a.to, a); h == relays || h == holds && !x.marks[a.to].settled {
				count++
			}
		}
		if passes {
			x.cells[p].relays = count + 1 // one for this loop: relays let go once all have been counted
			continue
		}
		if x.marks[p].waits += count; x.marks[p].waits == 0 {
			x.due(p)
		}
	}
	for p := range x.cells {
		if x.cells[p].relays > 0 {
			x.relay(int32(p))
		}
	}
}

// due queues a vertex that nobody keeps any longer.
func (x *execution[P]) due(v int32) {
	if x.marks[v].planned == wanted {
		x.reconciling.push(v)
		return
	}
	x.deleting.push(v)
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
	for _, a := range x.layout.prerequisites.of(v) {
		kept, passes := x.kept(a.to), x.passes(a.to)
		if !kept && !passes || x.holding(a.to, v, a) != as {
			continue
		}
		if passes {
			x.relay(a.to)
			continue
		}
		if m := &x.marks[a.to]; !m.settled {
			if m.waits--; m.waits == 0 {
				x.due(a.to)
			}
		}
	}
}

// holders returns the root causes for which p can't go yet, or nil.
func (x *execution[P]) holders(p int32) (why *causes) {
	for _, a := range x.layout.downstream.of(p) {
		switch x.holding(p, a.to, a) {
		case holds:
			if !x.hasLetGo(a.to) {
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

// hasLetGo reports whether a holder that has settled doesn't need any longer what it held.
func (x *execution[P]) hasLetGo(d int32) bool {
	m := &x.marks[d]
	switch {
	case m.planned != wanted:
		return m.gone
	case x.cleanup:
		return m.ready
	default:
		return m.applied || m.changes && x.out[d].Reason == ReasonPlanned
	}
}

// startDelete gives an unwanted vertex its turn: unless it is still held, it is asked for and deleted. It reports
// whether v has its state.
func (x *execution[P]) startDelete(v int32) bool {
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
	case err != nil:
		x.refused(v, deletion, err)
		return true
	case removal.Do == nil:
		x.removed(v, removal)
		return true
	case x.dry:
		return x.previewRemoval(v)
	case x.mustRest(v, deletion):
		return true
	}
	f := x.newFlight(v, removing)
	f.removal = removal
	x.launch(f)
	return false
}

// removed asks the postcondition once the resource has said that the dependent is gone.
func (x *execution[P]) removed(v int32, r Removal) {
	row := &x.out[v]
	row.Operation, row.Poll = r.Operation, r.Poll
	if !r.Gone {
		x.succeeded(v)
		row.State, row.Reason, row.Message = Deleting, r.Reason, r.Message
		return
	}
	switch verdict := x.askAll(v, x.node(v).removed); verdict.answer {
	case met:
		x.succeeded(v)
		x.marks[v].gone = true
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

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
	through, letsGo := x.passes(d), a.kind == loose && !x.cleanup
	switch {
	case a.kind == gone, letsGo && (through || x.passes(p)):
		return none
	case x.comesFirst(p) && x.comesFirst(d):
		return none // of nodes that exist only in cleanup, the one that depends on the other comes after it
	case through:
		return relays
	case x.keeps(p, d, a):
		return holds
	default:
		return none
	}
}

// keeps reports whether d, which is neither inactive nor manages nothing, keeps p; if it is wanted, only if it may do
// without.
func (x *execution[P]) keeps(p, d int32, a arc) bool {
	switch x.marks[d].planned {
	case unwanted:
		return true
	case undecided:
		return a.kind != loose || x.cleanup
	case wanted:
		if x.cleanup {
			return true
		}
		without := a.kind == optional || a.bundled && a.kind != loose || x.passes(p)
		return without && x.existsNow(d) != missing
	default:
		return false
	}
}

// passes reports whether one looks through v to find who keeps its prerequisites.
func (x *execution[P]) passes(v int32) bool {
	planned := x.marks[v].planned
	if planned == inactive || x.traits(v).has(manages) {
		return planned == inactive
	}
	late := x.cleanup && x.node(v).cleanup && planned == undecided // it may stand for what needs them
	return !late && !x.comesFirst(v)
}

// kept reports whether somebody may keep v from its turn: it is to be deleted, or exists only in this cleanup.
func (x *execution[P]) kept(v int32) bool {
	planned := x.marks[v].planned
	return planned == unwanted && x.traits(v).has(manages) || planned == wanted && x.cleanup
}

// relay is a vertex that one looks through.
type relay struct {
	users  int32   // so many beyond it haven't let go yet
	known  bool    // beyond is known
	beyond *causes // why they don't
}

// countHolders sets for how many holders each vertex that should go has to wait.
func (x *execution[P]) countHolders() {
	x.relays = make([]relay, len(x.marks))
	for p := range x.marks {
		p, m := int32(p), &x.marks[p]
		switch {
		case x.passes(p):
			x.relays[p].users = x.users(p) + 1 // one for this loop: relays let go once all have been counted
		case x.kept(p) && !m.settled:
			if m.waits += x.users(p); m.waits == 0 {
				x.due(p)
			}
		}
	}
	for p := range x.relays {
		if x.relays[p].users > 0 {
			x.relay(int32(p))
		}
	}
}

// users counts what may keep p from being deleted.
func (x *execution[P]) users(p int32) (count int32) {
	for _, a := range x.layout.downstream.of(p) {
		if h := x.holding(p, a.to, a); h == relays || h == holds && !x.marks[a.to].settled {
			count++
		}
	}
	return count
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
	if x.relays[v].users--; x.relays[v].users == 0 {
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
			r := &x.relays[a.to]
			if !r.known {
				r.beyond, r.known = x.holders(a.to), true
			}
			why = x.merged(why, r.beyond)
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
		return m.applied || m.changes && x.row(d).Reason == ReasonPlanned
	}
}

// startDelete gives an unwanted vertex its turn: unless it is still held, it is asked for and deleted. It reports
// whether v has its state.
func (x *execution[P]) startDelete(v int32) bool {
	if why := x.holders(v); why != nil {
		x.blame(v, Deleting, why)
		return true
	}
	row := x.row(v)
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
	f.removal = &removal
	x.launch(f)
	return false
}

// removed asks the postcondition once the resource has said that the dependent is gone.
func (x *execution[P]) removed(v int32, r Removal) {
	row := x.row(v)
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

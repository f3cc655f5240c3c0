// SPDX-License-Identifier: Apache-2.0

package workflow

// planned is how a vertex is classified before anything is touched.
type planned uint8

const (
	wanted planned = iota
	unwanted
	inactive
	undecided // an activation or a precondition is unknown
	collected
	dormant  // exists only in cleanup, and this is a reconcile
	finished // exists only in cleanup, and has nothing left to do
)

// plan classifies every vertex in topological order.
func (x *execution[P]) plan() {
	switch {
	case x.layout == nil:
		x.grow()
	case x.layout.certain != nil && !x.cleanup:
		copy(x.marks, x.layout.certain)
	default:
		for _, v := range x.layout.order {
			x.classify(v)
		}
	}
}

func (x *execution[P]) classify(v int32) {
	m, at := &x.marks[v], &x.layout.vertices[v]
	m.planned = x.activated(v, at)
	switch {
	case m.planned != wanted:
	case x.cleanup:
		m.planned = x.classifyCleanup(v, at)
	case at.node.cleanup:
		m.planned = dormant
		x.row(v).State = Disabled
	default:
		m.planned = x.classifyReconcile(v, at)
	}
	if m.planned != wanted {
		m.waits = 0 // for what it depends on; what depends on it is counted later
	}
	if m.planned == unwanted {
		x.classifyUnwanted(v, at)
	}
}

func (x *execution[P]) classifyUnwanted(v int32, at *vertex[P]) {
	switch {
	case at.traits.has(manages):
		x.deletes = true
	case x.cleanup:
		x.row(v).State = Deleted
	default:
		x.row(v).State = Disabled
	}
}

// activated asks for activation, which comes before everything else.
func (x *execution[P]) activated(v int32, at *vertex[P]) planned {
	if at.instance != nil && at.instance.unlisted {
		x.unanswered(v, "KeysUnknown", Unknown(x.layout.unlisted[at.node]))
		return undecided
	}
	if !at.traits.has(activates) {
		return wanted
	}
	switch verdict := x.askAll(v, at.node.activate); verdict.answer {
	case met:
		return wanted
	case unmet:
		x.row(v).judged(Inactive, verdict)
		return inactive
	default:
		x.unanswered(v, "ActivationUnknown", verdict)
		return undecided
	}
}

// classifyReconcile follows the prerequisites, then asks whether the key is still wanted, then the precondition.
func (x *execution[P]) classifyReconcile(v int32, at *vertex[P]) planned {
	x.marks[v].doubtful = at.traits.has(doubts)
	for _, a := range x.layout.prerequisites.of(v) {
		p := x.marks[a.to].planned
		if a.waitsFor(p) {
			x.marks[v].waits++
		}
		if p != wanted && x.goesWithout(v, a, p) {
			x.vanishes(v, at)
			return unwanted
		}
		if a.kind == gone && p == wanted {
			x.marks[v].doubtful = true
		}
	}
	switch {
	case x.row(v).State == Inactive:
		return inactive
	case x.vanishes(v, at):
		return unwanted
	case at.traits.has(decides):
		return x.precondition(v, at)
	default:
		return wanted
	}
}

// vanishes reports whether v is an instance whose key isn't wanted any more, and says so in its row.
func (x *execution[P]) vanishes(v int32, at *vertex[P]) bool {
	if at.instance == nil || !at.instance.vanished {
		return false
	}
	x.row(v).Reason, x.row(v).Message = "KeyVanished", "its key isn't wanted any more"
	return true
}

// goesWithout takes in that a prerequisite of v isn't wanted, for whatever reason, and reports whether v isn't either.
// If one is inactive v is too, unless another one isn't wanted.
func (x *execution[P]) goesWithout(v int32, a arc, p planned) bool {
	row, needs := x.row(v), a.kind.required() && !a.bundled
	switch {
	case p == undecided && a.kind == gone:
		x.marks[v].doubtful = true
	case p == unwanted && needs:
		row.State, row.Reason, row.Message = "", "PrerequisiteUnwanted", x.node(a.to).required
		return true
	case p == inactive && needs && row.State == "":
		row.State, row.Reason, row.Message = Inactive, "PrerequisiteInactive", x.node(a.to).required
	}
	return false
}

func (x *execution[P]) precondition(v int32, at *vertex[P]) planned {
	switch verdict := x.askAll(v, at.node.reconcile); verdict.answer {
	case met:
		return wanted
	case unmet:
		x.row(v).judged("", verdict)
		return unwanted
	default:
		x.unanswered(v, "PreconditionUnknown", verdict)
		return undecided
	}
}

// classifyCleanup classifies a vertex for the deletion of the primary.
func (x *execution[P]) classifyCleanup(v int32, at *vertex[P]) planned {
	x.deletes = true
	switch {
	case at.traits.has(atCleanup):
		return x.classifyLast(v, at)
	case x.runner.collected[at.node.index]:
		x.row(v).State = Collected
		return collected
	default:
		return unwanted
	}
}

// waitsFor reports whether a wanted vertex has to wait until the prerequisite at the end of an arc has settled, which
// is planned so.
func (a arc) waitsFor(p planned) bool {
	switch {
	case a.kind == gone:
		return p == unwanted
	case a.kind.required() && !a.bundled:
		return true
	default:
		return p == wanted || p == undecided
	}
}

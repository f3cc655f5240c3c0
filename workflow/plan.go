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
	if x.layout == nil {
		x.grow()
		return
	}
	for _, v := range x.layout.order {
		x.classify(v)
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
		x.out[v].State = Disabled
	default:
		m.planned = x.classifyReconcile(v, at)
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
		x.out[v].State = Deleted
	default:
		x.out[v].State = Disabled
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
		x.out[v].judged(Inactive, verdict)
		return inactive
	default:
		x.unanswered(v, "ActivationUnknown", verdict)
		return undecided
	}
}

// classifyReconcile follows the prerequisites, then asks for the precondition. It counts for how many arcs a wanted
// vertex has to wait.
func (x *execution[P]) classifyReconcile(v int32, at *vertex[P]) planned {
	waits, without := int32(0), int32(nobody)
	doubtful := at.traits.has(doubts)
	for _, a := range x.layout.prerequisites.of(v) {
		p := x.marks[a.to].planned
		if a.waitsFor(p) {
			waits++
		}
		switch {
		case p == wanted && a.kind != gone:
		case a.kind == gone:
			doubtful = doubtful || p == wanted || p == undecided
		case !a.kind.required() || a.bundled:
		case p == unwanted:
			x.out[v].Reason, x.out[v].Message = "PrerequisiteUnwanted", x.node(a.to).required
			return unwanted
		case p == inactive && without == nobody:
			without = a.to
		}
	}
	switch {
	case without != nobody:
		row := &x.out[v]
		row.State, row.Reason, row.Message = Inactive, "PrerequisiteInactive", x.node(without).required
		return inactive
	case at.instance != nil && at.instance.vanished:
		x.out[v].Reason, x.out[v].Message = "KeyVanished", "its key isn't wanted any more"
		return unwanted
	case at.traits.has(decides):
		if p := x.precondition(v, at); p != wanted {
			return p
		}
	}
	x.marks[v].waits, x.marks[v].doubtful = waits, doubtful
	return wanted
}

func (x *execution[P]) precondition(v int32, at *vertex[P]) planned {
	switch verdict := x.askAll(v, at.node.reconcile); verdict.answer {
	case met:
		return wanted
	case unmet:
		x.out[v].judged("", verdict)
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
		x.out[v].State = Collected
		return collected
	default:
		return unwanted
	}
}

// waitsFor reports whether a wanted vertex has to wait until the prerequisite at the end of an arc, which is planned so,
// has settled.
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

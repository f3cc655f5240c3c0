// SPDX-License-Identifier: Apache-2.0

package workflow

import "errors"

// walk starts every vertex whose turn has come, and ends once all have settled.
func (x *execution[P]) walk() {
	for x.left > 0 {
		for x.busy() < x.runner.options.MaxConcurrent && x.reconciling.length+x.deleting.length > 0 {
			if v := x.next(); x.start(v) {
				x.conclude(v)
			}
		}
		switch {
		case x.rollOut(false):
		case x.busy() > 0:
			x.await()
		case x.left > 0 && x.reconciling.length+x.deleting.length == 0:
			if !x.stopRollOut() {
				x.settle(x.untangle())
			}
		}
	}
}

// untangle ends a wait in a circle, which only a node that failed in the plan can make: a vertex waits over a Gone edge
// for a deletion that waits for that vertex, though another of its edges can't be satisfied in this run anyway. The
// first such vertex is Blocked by what is known to block it.
func (x *execution[P]) untangle() int32 {
	first := int32(nobody)
	if x.predicates == nil {
		x.predicates = map[predicate]Verdict{}
	}
	for _, v := range x.layout.declared {
		if x.marks[v].settled || x.marks[v].planned != wanted {
			continue
		}
		if x.cannotStart(v) {
			return v
		}
		if first == nobody {
			first = v
		}
	}
	if first == nobody { // only deletions are left
		for _, v := range x.layout.declared {
			if !x.marks[v].settled {
				first = v
				break
			}
		}
	}
	x.refused(first, question, errors.New("it waits for itself: please report the graph"))
	return first
}

// count queues what needs to wait for nothing, and settles what has no turn.
func (x *execution[P]) count() {
	x.left = len(x.marks)
	for v := range x.marks {
		v, m := int32(v), &x.marks[v]
		if x.turns(v, m) {
			x.joinWaves(v)
		}
		if m.planned == wanted && m.waits == 0 && !x.cleanup {
			x.reconciling.push(v)
		}
	}
	if x.deletes {
		x.countHolders()
	}
	for v := range x.marks {
		v, m := int32(v), &x.marks[v]
		if m.planned == wanted {
			continue
		}
		if x.traits(v).has(concludes) {
			x.endEpisode(v)
		}
		if m.planned != unwanted || !x.traits(v).has(manages) {
			x.settle(v)
		}
	}
}

// turns reports whether v counts for whether its instance is available.
func (x *execution[P]) turns(v int32, m *mark) bool {
	return x.traits(v).has(rollsOut) && (m.planned == wanted || m.planned == undecided)
}

// settle tells everything that waits for v that v won't change any more in this run.
func (x *execution[P]) settle(v int32) {
	m, at := &x.marks[v], &x.layout.vertices[v]
	m.settled = true
	x.left--
	x.row(v).Name, x.row(v).Key = at.name, at.key()
	if x.turns(v, m) {
		x.leaveWaves(v)
	}
	if m.planned == wanted || !x.cleanup {
		x.arrive(v, m)
	}
	if x.deletes {
		x.letGo(v)
	}
}

// arrive counts v off where it is a prerequisite.
func (x *execution[P]) arrive(v int32, m *mark) {
	for _, a := range x.layout.downstream.of(v) {
		d := &x.marks[a.to]
		if d.planned != wanted || d.settled || !a.waitsFor(m.planned) || x.cleanup && a.kind == gone {
			continue
		}
		if !m.plainly(a.kind) {
			d.doubtful = true
		}
		if d.waits--; d.waits == 0 {
			x.reconciling.push(a.to)
		}
	}
}

// plainly reports whether an edge to what m marks is satisfied at first sight.
func (m *mark) plainly(kind edgeKind) bool {
	return m.ready && kind != where && kind != gone && !m.changes || kind == applied && m.applied
}

// next takes the vertex with the longest way ahead, of reconciles and deletions together.
func (x *execution[P]) next() int32 {
	if x.deleting.length == 0 {
		return x.reconciling.pop()
	}
	if x.reconciling.length == 0 {
		return x.deleting.pop()
	}
	r, d := x.reconciling.first(), x.deleting.first()
	if x.layout.deletes.length[d] > x.layout.reconciles.length[r] {
		return x.deleting.pop()
	}
	return x.reconciling.pop()
}

// start gives v its turn and reports whether it has its state; otherwise its Do is running, or is to run.
func (x *execution[P]) start(v int32) bool {
	switch {
	case x.ctx.Err() != nil:
		x.cancelled(v)
		return true
	case x.marks[v].planned == unwanted:
		return x.startDelete(v)
	default:
		return x.startReconcile(v)
	}
}

// cancelled fills in the row of a vertex that isn't started any more, since the run has been cancelled.
func (x *execution[P]) cancelled(v int32) {
	row := x.row(v)
	row.State, row.Reason, row.Message = Blocked, reasonCancelled, "the run was cancelled"
	if x.marks[v].planned == unwanted {
		row.State = Deleting
	}
}

const reasonCancelled = "Cancelled"

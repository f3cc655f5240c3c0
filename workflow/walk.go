// SPDX-License-Identifier: Apache-2.0

package workflow

import "errors"

// walk starts every vertex whose turn has come, and ends once all have settled.
func (x *execution[P]) walk() {
	left := x.count()
	x.settlePlanned()
	for left > 0 {
		for x.flying < x.runner.options.MaxConcurrent && x.reconciling.length+x.deleting.length > 0 {
			if v := x.next(); x.start(v) && x.conclude(v) {
				x.settle(v)
				left--
			}
		}
		if x.flying > 0 {
			f := <-x.landed
			x.flying--
			answered := x.cells[f.vertex].answering
			if !answered {
				x.out[f.vertex].Duration = f.took
			}
			f.land()
			if answered || x.conclude(f.vertex) {
				x.settle(f.vertex)
				left--
			}
		} else if left > 0 && x.reconciling.length+x.deleting.length == 0 {
			x.settle(x.untangle())
			left--
		}
	}
}

// untangle ends a wait in a circle, which only a node that failed in the plan can make: a vertex waits over a Gone edge
// for a deletion that waits for that vertex, though another of its edges can't be satisfied in this run anyway. The
// first such vertex is Blocked by what is known to block it.
func (x *execution[P]) untangle() int32 {
	first := int32(nobody)
	for v := range x.cells {
		v, c := int32(v), &x.cells[v]
		if c.settled || c.planned != wanted {
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
		for v := range x.cells {
			if !x.cells[v].settled {
				first = int32(v)
				break
			}
		}
	}
	x.refused(first, question, errors.New("it waits for itself: please report the graph"))
	return first
}

// count sets for how much each vertex has to wait and returns how many have a turn at all. What the plan has settled
// isn't among them.
func (x *execution[P]) count() (turns int) {
	for v := range x.cells {
		v := int32(v)
		c := &x.cells[v]
		switch {
		case c.planned == wanted:
			turns++
			for _, a := range x.layout.prerequisites[v] {
				if x.waitsFor(a) {
					c.waits++
				}
			}
			if c.waits == 0 {
				x.reconciling.push(v)
			}
		case c.planned == unwanted && x.node(v).manages:
			turns++
		}
	}
	if x.deletes {
		x.countHolders()
	}
	return turns
}

// waitsFor reports whether a wanted vertex has to wait until the prerequisite at the end of an arc has settled.
func (x *execution[P]) waitsFor(a arc) bool {
	planned := x.cells[a.to].planned
	switch a.kind {
	case optional, loose:
		return planned == wanted || planned == undecided
	case gone:
		return planned == unwanted
	default:
		return true
	}
}

// settlePlanned settles what has no turn.
func (x *execution[P]) settlePlanned() {
	for v := range x.cells {
		c := &x.cells[v]
		if c.planned != wanted && (c.planned != unwanted || !x.node(int32(v)).manages) {
			x.settle(int32(v))
		}
	}
}

// settle tells everything that waits for v that v won't change any more in this run.
func (x *execution[P]) settle(v int32) {
	x.cells[v].settled = true
	for _, a := range x.layout.downstream[v] {
		c := &x.cells[a.to]
		if c.planned == wanted && !c.settled && x.waitsFor(arc{to: v, kind: a.kind}) {
			if c.waits--; c.waits == 0 {
				x.reconciling.push(a.to)
			}
		}
	}
	if x.deletes {
		x.letGo(v)
	}
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

// cancelled fills in the row of a vertex that isn't started any more, since the run has been cancelled.
func (x *execution[P]) cancelled(v int32) {
	row := &x.out[v]
	row.State, row.Reason, row.Message = Blocked, reasonCancelled, "the run was cancelled"
	if x.cells[v].planned == unwanted {
		row.State = Deleting
	}
}

const reasonCancelled = "Cancelled"

// start gives v its turn and reports whether it has settled; otherwise its Do is running.
func (x *execution[P]) start(v int32) bool {
	remove := x.cells[v].planned == unwanted
	if x.ctx.Err() != nil {
		x.cancelled(v)
		return true
	}
	if remove {
		return x.startDelete(v)
	}
	return x.startReconcile(v)
}

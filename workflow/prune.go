// SPDX-License-Identifier: Apache-2.0

package workflow

import "slices"

// prune removes what nodes have made before and don't manage any more, dependants first, one after the other: it is
// rare.
func (x *execution[P]) prune() {
	left := map[int32]bool{} // vertices of which something is left
	for _, v := range slices.Backward(x.layout.order) {
		if x.ctx.Err() != nil {
			return
		}
		if x.cells[v].prune == nil {
			continue
		}
		if !x.mayPrune(v, left) {
			left[v] = true
			continue
		}
		left[v] = !x.pruneOne(v)
	}
}

// mayPrune reports whether nobody can need what v has left behind: v is ready, and so is all that depends on it, with
// what is there now.
func (x *execution[P]) mayPrune(v int32, left map[int32]bool) bool {
	if x.row(v).State != Ready {
		return false
	}
	for _, a := range x.layout.downstream.of(v) {
		switch x.row(a.to).State {
		case Ready, Inactive, Disabled:
		default:
			return false
		}
		if left[a.to] {
			return false
		}
	}
	return true
}

// pruneOne reports whether nothing is left of v.
func (x *execution[P]) pruneOne(v int32) (gone bool) {
	removal, err := inline(x, v, func(*Run[P]) (Removal, error) { return x.cells[v].prune() })
	switch {
	case err != nil:
		x.refused(v, clearance, err)
		return false
	case removal.Do == nil:
		x.pruned(v, removal)
		return removal.Gone
	case x.mustRest(v, clearance):
		return false
	}
	f := x.newFlight(v, pruning)
	f.removal = &removal
	x.launch(f)
	for x.busy() > 0 {
		x.await()
	}
	return x.row(v).State == Ready && f.removal.Gone
}

// pruned takes in what came of it. The row stays that of what the node has now, and says what is left.
func (x *execution[P]) pruned(v int32, r Removal) {
	x.forget(v, clearing)
	row := x.row(v)
	if row.Operation == None {
		row.Operation = r.Operation
	}
	if !r.Gone {
		row.Reason, row.Message, row.Poll = r.Reason, r.Message, soonest(row.Poll, r.Poll)
	}
}

// cleared takes in what came of a flight that pruned.
func (x *execution[P]) cleared(f *flight[P]) {
	if f.err != nil {
		x.erred(f.vertex, clearance, f.err)
		return
	}
	x.pruned(f.vertex, *f.removal)
}

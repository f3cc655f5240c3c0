// SPDX-License-Identifier: Apache-2.0

package workflow

// OnCleanup returns a builder of the same workflow whose nodes exist only while the primary is being deleted: a final
// backup, a de-registration.
//
//	dependent.Apply[batchv1.Job](workflow.OnCleanup(b), "final-backup", desired).DependsOn(database)
//
// Such a node is Disabled in a reconcile. In a cleanup it is reconciled once what depends on it is gone, if its
// precondition is met; its gate and its readiness count. What it depends on stays until it is ready, and what it wrote
// is deleted last, once everything else is gone. It reads what is observed: there it has nothing left to do if
// something that it requires isn't there.
//
// A node that exists always can't require it, but may be Optional to it: then it is gone before.
func OnCleanup[P any](b *Builder[P]) *Builder[P] {
	late := *b
	late.atCleanup = true
	return &late
}

// classifyLast classifies a vertex that exists only in this cleanup.
func (x *execution[P]) classifyLast(v int32, at *vertex[P]) planned {
	if x.memory != nil && x.memory.ended[x.identity(v)] {
		return x.rests(v)
	}
	if at.traits.has(decides) {
		switch p := x.precondition(v, at); p {
		case wanted:
		case unwanted:
			return finished
		default:
			return p
		}
	}
	for _, a := range x.layout.prerequisites.of(v) {
		switch before := x.traits(a.to); {
		case !a.kind.required() || !before.has(manages):
		case before.has(atCleanup):
			if x.marks[a.to].planned == wanted {
				x.marks[v].waits++
			}
		case x.existsNow(a.to) == missing: // it was held until this was ready, or has never been there
			return x.rests(v)
		}
	}
	x.marks[v].doubtful = true
	return wanted
}

// rests fills in the row of a vertex that has nothing left to do but to go.
func (x *execution[P]) rests(v int32) planned {
	x.out[v].State, x.out[v].Message = Ready, "nothing is left to do for it"
	return finished
}

// beginLast gives what exists only in cleanup its second turn: once all the rest is gone, and all of it is ready or has
// nothing left to do, it is deleted. It reports whether there is anything.
func (x *execution[P]) beginLast() bool {
	for v := range x.out {
		m := &x.marks[v]
		switch s := x.out[v].State; {
		case s == Deleted || s == Collected || s == Inactive || m.planned == finished || m.planned == wanted && m.ready:
		default:
			return false
		}
	}
	for v := range x.marks {
		v, m := int32(v), &x.marks[v]
		if m.planned != finished && m.planned != wanted {
			continue
		}
		if m.planned == wanted {
			x.remembered().ended[x.identity(v)] = true
		}
		*m = mark{planned: unwanted, exists: m.exists}
		x.out[v].State, x.out[v].Reason, x.out[v].Message = "", "", ""
		x.left++
	}
	if x.left == 0 {
		return false
	}
	x.countHolders()
	return true
}

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
// something that it requires isn't there. Of two such nodes, one that depends on the other comes after it.
//
// A [Repeat] of such nodes asks for its keys in the cleanup.
//
// It runs at least once: after a restart maybe again, as long as anything is left of what it requires. What it makes of
// many instances must not depend on how many of them are left.
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
			return x.rests(v)
		default:
			return p
		}
	}
	if x.vanishes(v, at) || x.lacks(v) {
		return x.rests(v)
	}
	for _, a := range x.layout.prerequisites.of(v) {
		if a.kind != gone && x.comesFirst(a.to) {
			x.marks[v].waits++
		}
	}
	x.marks[v].doubtful = true
	return wanted
}

// comesFirst reports whether v exists only in this cleanup and is to be reconciled: what depends on it waits for it, if
// that exists only in this cleanup too.
func (x *execution[P]) comesFirst(v int32) bool {
	return x.traits(v).has(atCleanup) && x.marks[v].planned == wanted
}

// lacks reports whether something isn't there that v requires, directly or over what manages nothing. It was held until
// v was ready, or has never been there.
func (x *execution[P]) lacks(v int32) bool {
	for _, a := range x.layout.prerequisites.of(v) {
		known := x.marks[a.to].planned != undecided && !x.comesFirst(a.to)
		if a.kind.required() && known && x.isLacking(a.to) {
			return true
		}
	}
	return x.lacksInstances(v)
}

// lacksInstances reports whether v requires what is repeated, and no instance of that is left.
func (x *execution[P]) lacksInstances(v int32) bool {
	n, there := x.node(v), map[int32]bool{}
	for _, a := range x.layout.prerequisites.of(v) {
		there[a.edge] = true
	}
	for k, e := range n.edges {
		if e.kind.required() && e.to.manages && !e.to.cleanup && e.to.crosses(n) && !there[int32(k)] {
			return true
		}
	}
	return false
}

func (x *execution[P]) isLacking(v int32) bool {
	if x.traits(v).has(manages) {
		return x.existsNow(v) == missing
	}
	m := &x.marks[v]
	if m.exists == notAsked {
		m.exists = exists
		if x.lacks(v) {
			m.exists = missing
		}
	}
	return m.exists == missing
}

// rests fills in the row of a vertex that has nothing left to do but to go.
func (x *execution[P]) rests(v int32) planned {
	x.row(v).State, x.row(v).Message = Ready, "nothing is left to do for it"
	return finished
}

// beginLast gives what exists only in cleanup its second turn: once all the rest is gone, and all of it is ready or has
// nothing left to do, it is deleted. It reports whether there is anything.
func (x *execution[P]) beginLast() bool {
	for v := range x.marks {
		if !x.mayGoLast(int32(v)) {
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
		x.row(v).State, x.row(v).Reason, x.row(v).Message = "", "", ""
		if !x.traits(v).has(manages) {
			m.settled, x.row(v).State = true, Deleted
			continue
		}
		x.left++
	}
	if x.left == 0 {
		return false
	}
	x.countHolders()
	return true
}

// mayGoLast reports whether v is gone, or has done what it is for.
func (x *execution[P]) mayGoLast(v int32) bool {
	switch m := &x.marks[v]; m.planned {
	case finished, inactive, collected:
		return true
	case wanted:
		return m.ready
	default:
		return x.row(v).State == Deleted
	}
}

// SPDX-License-Identifier: Apache-2.0

package workflow

import "errors"

// An edge from outside into a Repeat with AtLeast is satisfied by a quorum: enough instances in which all that the edge
// leads to is as it wants it. Of Repeats within each other, each counts its own.

// ballot is what one arc says of its instance.
type ballot struct {
	instance *instance
	arc      arc
	why      *causes // nil: yes
}

// quorate reports whether a quorum decides about an edge of n.
func (n *node[P]) quorate(e edge[P]) bool {
	return e.kind != gone && e.to.crosses(n) && e.to.scope.repeat.quorum()
}

// unsatisfiedQuorums is unsatisfied, of the edges that a quorum decides.
func (x *execution[P]) unsatisfiedQuorums(v int32) (why *causes, unknown error) {
	n, counted := x.node(v), map[int32]bool{}
	for _, e := range n.edges {
		if counted[e.declared] || !n.quorate(e) {
			continue
		}
		counted[e.declared] = true
		part := e.to.scope.repeat
		for part.outer != nil && !n.standsIn(part.outer) {
			part = part.outer
		}
		ballots, err := x.ballots(v, e.declared)
		head := x.layout.find(part.head, x.layout.vertices[v].path())
		why, unknown = x.merged(why, x.elect(part, head, ballots)), errors.Join(unknown, err)
	}
	return why, unknown
}

// ballots are those of one declared edge; who isn't wanted has none.
func (x *execution[P]) ballots(v, declared int32) (all []ballot, unknown error) {
	edges := x.node(v).edges
	for _, a := range x.layout.prerequisites.of(v) {
		p := x.marks[a.to].planned
		if edges[a.edge].declared != declared || !a.bundled || p != wanted && p != undecided {
			continue
		}
		why, err := x.unsatisfiedEdge(v, a)
		all = append(all, ballot{x.layout.vertices[a.to].instance, a, why})
		unknown = errors.Join(unknown, err)
	}
	return all, unknown
}

// elect returns why too few instances of part say yes, or nil.
func (x *execution[P]) elect(part *repeat[P], head int32, ballots []ballot) (why *causes) {
	var order []*instance
	of := map[*instance][]ballot{}
	for _, b := range ballots {
		i := b.instance.at(part.depth)
		if of[i] == nil {
			order = append(order, i)
		}
		of[i] = append(of[i], b)
	}
	yes := 0
	for _, i := range order {
		if no := x.votes(part, i, of[i]); no != nil {
			why = x.merged(why, no)
		} else {
			yes++
		}
	}
	switch {
	case part.atLeast == 0:
		return why
	case yes >= part.atLeast:
		return nil
	default:
		return x.merged(why, x.itself(head))
	}
}

// votes returns why an instance of part says no, or nil.
func (x *execution[P]) votes(part *repeat[P], i *instance, ballots []ballot) (why *causes) {
	var inner []*repeat[P]
	of := map[*repeat[P]][]ballot{}
	for _, b := range ballots {
		at := x.node(b.arc.to).scope.repeat
		for at != part && at.outer != part {
			at = at.outer
		}
		switch {
		case at == part || b.instance.unlisted:
			why = x.merged(why, b.why)
		case of[at] == nil:
			inner = append(inner, at)
			fallthrough
		default:
			of[at] = append(of[at], b)
		}
	}
	for _, at := range inner {
		why = x.merged(why, x.elect(at, x.layout.find(at.head, i.path), of[at]))
	}
	return why
}

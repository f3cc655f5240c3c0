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

// election is about one declared edge of a vertex and one of the Repeats that it leads into.
type election[P any] struct {
	declared int32
	part     *repeat[P] // the outermost that it crosses
}

// unsatisfiedQuorums is unsatisfied, of the edges that a quorum decides.
func (x *execution[P]) unsatisfiedQuorums(v int32) (why *causes, unknown error) {
	n, at := x.node(v), x.layout.vertices[v].path()
	var all []election[P]
	inner := map[election[P]][]*repeat[P]{} // what the edge leads into
	for _, e := range n.edges {
		if !n.quorate(e) {
			continue
		}
		var across []*repeat[P]
		for part := e.to.scope.repeat; part != nil && !n.standsIn(part); part = part.outer {
			across = append(across, part)
		}
		of := election[P]{e.declared, across[len(across)-1]}
		if inner[of] == nil {
			all = append(all, of)
		}
		inner[of] = append(inner[of], across...)
	}
	for _, of := range all {
		head := x.layout.find(of.part.head, at[:min(of.part.depth-1, len(at))])
		if !x.takesPart(head) {
			continue
		}
		ballots, err := x.ballots(v, of)
		why, unknown = x.merged(why, x.elect(of.part, head, ballots, inner[of])), errors.Join(unknown, err)
	}
	return why, unknown
}

// takesPart reports whether a vertex counts: who isn't wanted is left out.
func (x *execution[P]) takesPart(v int32) bool {
	return v != nobody && (x.marks[v].planned == wanted || x.marks[v].planned == undecided)
}

// ballots are those of one election.
func (x *execution[P]) ballots(v int32, of election[P]) (all []ballot, unknown error) {
	edges := x.node(v).edges
	for _, a := range x.layout.prerequisites.of(v) {
		if edges[a.edge].declared != of.declared || !x.node(a.to).standsIn(of.part) || !x.takesPart(a.to) {
			continue
		}
		why, err := x.unsatisfiedEdge(v, a)
		all = append(all, ballot{x.layout.vertices[a.to].instance, a, why})
		unknown = errors.Join(unknown, err)
	}
	return all, unknown
}

// elect returns why too few instances of part say yes, or nil. The edge leads into the inner Repeats, among others.
func (x *execution[P]) elect(part *repeat[P], head int32, ballots []ballot, inner []*repeat[P]) (why *causes) {
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
		if no := x.votes(part, i, of[i], inner); no != nil {
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
func (x *execution[P]) votes(part *repeat[P], i *instance, ballots []ballot, inner []*repeat[P]) (why *causes) {
	of := map[*repeat[P]][]ballot{}
	for _, b := range ballots {
		at := x.node(b.arc.to).scope.repeat
		for at != part && at.outer != part {
			at = at.outer
		}
		if at == part || b.instance.unlisted {
			why = x.merged(why, b.why)
		} else {
			of[at] = append(of[at], b)
		}
	}
	seen := map[*repeat[P]]bool{}
	for _, at := range inner {
		if at.outer != part || seen[at] {
			continue
		}
		seen[at] = true
		if head := x.layout.find(at.head, i.path); x.takesPart(head) {
			why = x.merged(why, x.elect(at, head, of[at], inner))
		}
	}
	return why
}

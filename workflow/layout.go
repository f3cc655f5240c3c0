// SPDX-License-Identifier: Apache-2.0

package workflow

import "slices"

// layout is the graph that a run walks: vertices by number, and what joins them.
//
// A run knows vertices only, never nodes: a node that is declared once may have many instances. A graph without Repeats
// has one layout, made by Build, with a vertex per node in declaration order. With Repeats each run makes its own, in
// the order of its plan, since only the plan tells the keys: see grow.
type layout[P any] struct {
	vertices []vertex[P]
	order    []int32 // topological, ties by declaration order
	links
	reconciles, deletes ranking
	// position is where a vertex stands among all in declaration order, keys sorted; declared is the inverse.
	position, declared []int32
	conditions         int // so many verdicts may be asked for
	grown[P]
}

// vertex is a node, or an instance of a repeated one.
type vertex[P any] struct {
	node     *node[P]
	instance *instance // nil outside of Repeats
	name     string    // of the node; with index and traits here to spare a look at the node
	index    int32
	traits   traits
}

func newVertex[P any](n *node[P], i *instance) vertex[P] {
	return vertex[P]{node: n, instance: i, name: n.name, index: n.index, traits: n.traits}
}

// traits spare a run the look at what most nodes don't have.
type traits uint16

const (
	manages   traits = 1 << iota
	activates        // has conditions of that kind
	decides          // has preconditions
	holdsBack        // has gates
	judges           // has its own readiness
	quorate          // has edges that a quorum satisfies
	doubts           // has edges that the states of their prerequisites alone don't satisfy
	concludes        // has a deadline, or an answer to failures
	rollsOut         // stands in a Repeat that bounds changes
	atCleanup        // exists only in cleanup
)

func (t traits) has(which traits) bool { return t&which != 0 }

// answers is how many verdicts may be asked for of the vertices from one to another.
func (l *layout[P]) answers(from, to int) (count int) {
	for _, v := range l.vertices[from:to] {
		count += v.node.conditions()
	}
	return count
}

// staticLayout takes links without cycles.
func staticLayout[P any](nodes []*node[P], l links) *layout[P] {
	same := identity(len(nodes))
	out := &layout[P]{
		vertices: make([]vertex[P], len(nodes)), links: l, order: l.topological(), position: same, declared: same,
	}
	for i, n := range nodes {
		out.vertices[i] = newVertex(n, nil)
		out.conditions += n.conditions()
	}
	out.rank()
	return out
}

// rank works out the order of dispatch.
func (l *layout[P]) rank() {
	backwards := slices.Clone(l.order)
	slices.Reverse(backwards)
	l.reconciles = newRanking(longest(backwards, l.downstream), l.declared)
	l.deletes = newRanking(longest(l.order, l.prerequisites), l.declared)
}

// longest returns the length of the longest way from each vertex over next; order has what next leads to first.
func longest(order []int32, next arcs) []int32 {
	length := make([]int32, len(order))
	for _, v := range order {
		for _, a := range next.of(v) {
			length[v] = max(length[v], length[a.to]+1)
		}
	}
	return length
}

// ranking is an order of dispatch: the longest way ahead first, ties by declaration order.
type ranking struct {
	length []int32 // of the longest way ahead of a vertex
	rank   []int32
	vertex []int32 // of a rank
}

// newRanking sorts by counting, so that it is linear.
func newRanking(length, declared []int32) ranking {
	r := ranking{length, make([]int32, len(length)), make([]int32, len(length))}
	longest := int32(0)
	for _, l := range length {
		longest = max(longest, l)
	}
	next := make([]int32, longest+2)
	for _, l := range length {
		next[longest-l+1]++
	}
	for i := range longest + 1 {
		next[i+1] += next[i]
	}
	for _, v := range declared {
		at := &next[longest-length[v]]
		r.vertex[*at], r.rank[v] = v, *at
		*at++
	}
	return r
}

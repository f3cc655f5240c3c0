// SPDX-License-Identifier: Apache-2.0

package workflow

import "slices"

// layout is the graph that a run walks: vertices by number, and what joins them.
//
// A run knows vertices only, never nodes: a node that is declared once may have many instances. A graph without Repeats
// has one layout, made by Build, with a vertex per node, numbered in the order in which a run that has nothing to wait
// for comes to them: so it goes through its memory from end to end. With Repeats each run makes its own, in the order
// of its plan, since only the plan tells the keys: see grow.
type layout[P any] struct {
	vertices []vertex[P]
	order    []int32 // topological; ties by declaration order, if nodes are asked anything
	links
	reconciles, deletes ranking
	// position is where a vertex stands among all in declaration order, keys sorted; declared is the inverse.
	position, declared []int32
	// certain is how a reconcile begins in which no node is asked whether it is wanted; nil if some is.
	certain    []mark
	rows       []int32 // the row of a vertex in the result while the run fills it in; nil: by number
	conditions int     // so many verdicts may be asked for
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

// staticLayout takes the links between nodes, without cycles.
func staticLayout[P any](nodes []*node[P], l links) *layout[P] {
	order := l.topological()
	ranked := newRanking(longest(backwards(order), l.downstream), identity(len(nodes)))
	out := &layout[P]{vertices: make([]vertex[P], len(nodes)), position: ranked.vertex, declared: ranked.rank}
	prerequisites := arcs{first: make([]int32, 1, len(nodes)+1), list: make([]arc, 0, len(l.prerequisites.list))}
	asks := false
	for v, i := range ranked.vertex {
		n := nodes[i]
		out.vertices[v] = newVertex(n, nil)
		out.conditions += n.conditions()
		asks = asks || n.cleanup || n.traits.has(activates|decides)
		for _, a := range l.prerequisites.of(i) {
			a.to = ranked.rank[a.to]
			prerequisites.list = append(prerequisites.list, a)
		}
		prerequisites.first = append(prerequisites.first, int32(len(prerequisites.list)))
	}
	out.links = newLinks(prerequisites)
	out.order = identity(len(nodes))
	if asks { // then one can tell in which order
		for at, i := range order {
			out.order[at] = ranked.rank[i]
		}
	}
	out.rank()
	out.rows = out.position
	if !asks {
		out.certain = out.allWanted()
	}
	return out
}

// allWanted is the plan if every vertex is wanted.
func (l *layout[P]) allWanted() []mark {
	marks := make([]mark, len(l.vertices))
	for v := range marks {
		marks[v].doubtful = l.vertices[v].traits.has(doubts)
		for _, a := range l.prerequisites.of(int32(v)) {
			if a.waitsFor(wanted) {
				marks[v].waits++
			} else {
				marks[v].doubtful = true // a Gone edge, which can't be satisfied
			}
		}
	}
	return marks
}

// rank works out the order of dispatch.
func (l *layout[P]) rank() {
	l.reconciles = newRanking(longest(backwards(l.order), l.downstream), l.declared)
	l.deletes = newRanking(longest(l.order, l.prerequisites), l.declared)
}

func backwards(order []int32) []int32 {
	back := slices.Clone(order)
	slices.Reverse(back)
	return back
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

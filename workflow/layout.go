// SPDX-License-Identifier: Apache-2.0

package workflow

import (
	"cmp"
	"slices"
)

// layout is the graph that a run walks: vertices by number, in declaration order, and what joins them.
//
// A run knows vertices only, never nodes: a node that is declared once may have many instances. A graph without
// repeated parts has one layout, made by Build, with one vertex per node.
type layout[P any] struct {
	vertices []vertex[P]
	order    []int32 // topological, ties by declaration order
	links
	reconciles, deletes ranking
}

type vertex[P any] struct {
	node *node[P]
}

// links are the edges of a graph as arcs between numbers, from both ends, each list in the order of its declaration.
type links struct {
	prerequisites, downstream [][]arc
}

// arc leads to a vertex over an edge.
type arc struct {
	to   int32
	kind edgeKind
	edge int32 // number of the edge in its declaring node
}

// newLinks leaves out edges that Build refuses: to foreign nodes, and of a node to itself.
func newLinks[P any](nodes []*node[P]) links {
	l := links{make([][]arc, len(nodes)), make([][]arc, len(nodes))}
	for i, n := range nodes {
		for k, e := range n.edges {
			if e.to == nil || e.to.graph != n.graph || e.to == n {
				continue
			}
			l.prerequisites[i] = append(l.prerequisites[i], arc{e.to.index, e.kind, int32(k)})
			l.downstream[e.to.index] = append(l.downstream[e.to.index], arc{n.index, e.kind, int32(k)})
		}
	}
	return l
}

// newLayout takes links without cycles.
func newLayout[P any](nodes []*node[P], l links) *layout[P] {
	out := &layout[P]{vertices: make([]vertex[P], len(nodes)), links: l, order: l.topological()}
	for i, n := range nodes {
		out.vertices[i] = vertex[P]{node: n}
	}
	backwards := slices.Clone(out.order)
	slices.Reverse(backwards)
	out.reconciles = newRanking(longest(backwards, l.downstream))
	out.deletes = newRanking(longest(out.order, l.prerequisites))
	return out
}

// topological is Kahn's algorithm (1962). Vertices on and behind a cycle are missing from the result.
func (l links) topological() []int32 {
	n := len(l.prerequisites)
	same := make([]int32, n)
	waits := make([]int32, n)
	for i := range same {
		same[i] = int32(i)
	}
	free := newQueue(same, same)
	for i, arcs := range l.prerequisites {
		if waits[i] = int32(len(arcs)); waits[i] == 0 {
			free.push(int32(i))
		}
	}
	order := make([]int32, 0, n)
	for free.length > 0 {
		v := free.pop()
		order = append(order, v)
		for _, a := range l.downstream[v] {
			if waits[a.to]--; waits[a.to] == 0 {
				free.push(a.to)
			}
		}
	}
	return order
}

// ranking is an order of dispatch: the longest way ahead first, ties by declaration order.
type ranking struct {
	length []int32 // of the longest way ahead of a vertex
	rank   []int32
	vertex []int32 // of a rank
}

func newRanking(length []int32) ranking {
	r := ranking{length, make([]int32, len(length)), make([]int32, len(length))}
	for i := range r.vertex {
		r.vertex[i] = int32(i)
	}
	slices.SortStableFunc(r.vertex, func(a, b int32) int { return cmp.Compare(length[b], length[a]) })
	for i, v := range r.vertex {
		r.rank[v] = int32(i)
	}
	return r
}

// longest returns the length of the longest way from each vertex over next; order has what next leads to first.
func longest(order []int32, next [][]arc) []int32 {
	length := make([]int32, len(order))
	for _, v := range order {
		for _, a := range next[v] {
			length[v] = max(length[v], length[a.to]+1)
		}
	}
	return length
}

// parts numbers the connected parts of the graph; edges of every kind but Gone connect.
func (l links) parts() []int32 {
	part := make([]int32, len(l.prerequisites))
	for i := range part {
		if part[i] != 0 {
			continue
		}
		part[i] = int32(i + 1)
		for stack := []int32{int32(i)}; len(stack) > 0; {
			v := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			for _, arcs := range [...][]arc{l.prerequisites[v], l.downstream[v]} {
				for _, a := range arcs {
					if a.kind != gone && part[a.to] == 0 {
						part[a.to] = part[i]
						stack = append(stack, a.to)
					}
				}
			}
		}
	}
	return part
}

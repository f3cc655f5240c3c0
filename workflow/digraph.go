// SPDX-License-Identifier: Apache-2.0

package workflow

import (
	"slices"

	gonum "gonum.org/v1/gonum/graph"
)

// digraph shows successor lists to gonum.
type digraph [][]int32

func (d digraph) Node(id int64) gonum.Node { return number(id) }

func (d digraph) Nodes() gonum.Nodes {
	all := make([]int32, len(d))
	for i := range all {
		all[i] = int32(i)
	}
	return &numbers{list: all}
}

func (d digraph) From(id int64) gonum.Nodes { return &numbers{list: d[id]} }

func (d digraph) To(id int64) gonum.Nodes {
	var from []int32
	for v := range d {
		if d.HasEdgeFromTo(int64(v), id) {
			from = append(from, int32(v))
		}
	}
	return &numbers{list: from}
}

func (d digraph) HasEdgeFromTo(u, v int64) bool { return slices.Contains(d[u], int32(v)) }

func (d digraph) HasEdgeBetween(x, y int64) bool {
	return d.HasEdgeFromTo(x, y) || d.HasEdgeFromTo(y, x)
}

func (d digraph) Edge(u, v int64) gonum.Edge {
	if !d.HasEdgeFromTo(u, v) {
		return nil
	}
	return step{number(u), number(v)}
}

type number int64

func (n number) ID() int64 { return int64(n) }

type step struct{ from, to gonum.Node }

func (s step) From() gonum.Node         { return s.from }
func (s step) To() gonum.Node           { return s.to }
func (s step) ReversedEdge() gonum.Edge { return step{s.to, s.from} }

// numbers iterates over vertices; it implements gonum.Nodes.
type numbers struct {
	list []int32
	at   int
}

func (n *numbers) Next() bool {
	n.at++
	return n.at <= len(n.list)
}

func (n *numbers) Len() int { return max(len(n.list)-n.at, 0) }

func (n *numbers) Reset() { n.at = 0 }

func (n *numbers) Node() gonum.Node { return number(n.list[n.at-1]) }

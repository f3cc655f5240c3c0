// SPDX-License-Identifier: Apache-2.0

package workflow

import (
	"fmt"
	"slices"
	"strings"
)

// Picture is a graph to look at, with the states of a run or without. It is immutable and safe for concurrent use.
type Picture struct {
	name  string
	nodes []picturedNode
	rows  []NodeResult // of a run, one per node; nil without
}

type picturedNode struct {
	name          string
	prerequisites []picturedEdge
	groups        []string // names of the groups and Repeats that it stands in, the outermost first
	repeats       []int    // numbers of the Repeats that it stands in, the outermost first
	begins        bool     // it is the head of a Repeat, which groups has as its last
	path          []string // of its instance
	folds         int      // so many nodes that it stands for; 0: it isn't folded
}

type picturedEdge struct {
	to   int
	kind edgeKind
}

func newPicture[P any](g *graph[P]) *Picture {
	p := &Picture{name: g.name, nodes: make([]picturedNode, len(g.nodes))}
	for i, n := range g.nodes {
		at := &p.nodes[i]
		at.name = n.name
		for s := n.scope; s.parent != nil; s = s.parent {
			at.groups = append(at.groups, s.name)
		}
		slices.Reverse(at.groups)
		if n.head != nil {
			at.groups, at.begins = append(at.groups, n.name), true
		}
		for _, around := range n.repeats() {
			at.repeats = append(at.repeats, around.index)
		}
		slices.Reverse(at.repeats)
		for _, e := range n.edges {
			if !e.implied && !n.beginsAnyway(e) {
				at.prerequisites = append(at.prerequisites, picturedEdge{int(e.to.index), e.kind})
			}
		}
	}
	return p
}

// beginsAnyway reports whether an edge leads to the head of the Repeat that n stands in, though n begins after another
// node in it anyway.
func (n *node[P]) beginsAnyway(e edge[P]) bool {
	part := n.scope.repeat
	return part != nil && e.to == part.head && slices.ContainsFunc(n.edges, func(other edge[P]) bool {
		return other.to.standsIn(part) && other.kind != gone
	})
}

// with returns the picture of a run: with the instances of what is repeated, and their states.
func (p *Picture) with(rows []NodeResult) *Picture {
	out := &Picture{name: p.name, rows: rows, nodes: make([]picturedNode, 0, len(rows))}
	first := make([]int, len(p.nodes)+1) // of a node: of its instances in out
	for i, n := range p.nodes {
		for len(out.nodes) < len(rows) && rows[len(out.nodes)].Name == n.name {
			at := n
			if key := rows[len(out.nodes)].Key; key != "" {
				at.path, _ = split(key, len(n.repeats))
			}
			out.nodes = append(out.nodes, at)
		}
		first[i+1] = len(out.nodes)
	}
	for i := range out.nodes {
		n := &out.nodes[i]
		declared := n.prerequisites
		n.prerequisites = nil
		for _, e := range declared {
			for to := first[e.to]; to < first[e.to+1]; to++ {
				if n.meets(&out.nodes[to]) {
					n.prerequisites = append(n.prerequisites, picturedEdge{to, e.kind})
				}
			}
		}
	}
	return out
}

// meets reports whether an edge from n to other joins these instances of them.
func (n *picturedNode) meets(other *picturedNode) bool {
	for i := range min(len(n.path), len(other.path)) {
		if n.repeats[i] != other.repeats[i] {
			return true
		}
		if n.path[i] != other.path[i] {
			return false
		}
	}
	return true
}

// title is the name of a node, with the key of its instance, or how many it stands for.
func (n *picturedNode) title() string {
	switch {
	case n.folds > 0:
		return fmt.Sprintf("%s (%d)", n.name, n.folds)
	case n.path == nil:
		return n.name
	}
	return n.name + "[" + joined(n.path) + "]"
}

// explanation says in one line why a node is where it is.
func (n *NodeResult) explanation() string {
	var parts []string
	if n.Reason != "" && n.Reason != string(n.State) {
		parts = append(parts, n.Reason)
	}
	if line, _, _ := strings.Cut(n.Message, "\n"); line != "" {
		parts = append(parts, line)
	}
	if len(n.BlockedBy) > 0 {
		waits := "waits for " + strings.Join(n.BlockedBy, ", ")
		if n.MoreCauses {
			waits += " and others"
		}
		parts = append(parts, waits)
	}
	return strings.Join(parts, ": ")
}

// depths returns the longest way from a node without prerequisites to each node, from 1. Folding may have made cycles,
// of which the edge that closes one is left out.
func (p *Picture) depths() []int {
	const visiting = -1
	depth := make([]int, len(p.nodes))
	var of func(int) int
	of = func(i int) int {
		if depth[i] == 0 {
			depth[i] = visiting
			deepest := 0
			for _, e := range p.nodes[i].prerequisites {
				deepest = max(deepest, of(e.to))
			}
			depth[i] = deepest + 1
		}
		return depth[i]
	}
	for i := range p.nodes {
		of(i)
	}
	return depth
}

// branches hangs each node under one of its prerequisites, the deepest, of several the one declared first, so that a
// tree shows every node once and below all that it waits for. Nodes without prerequisites are under -1.
func (p *Picture) branches() (under map[int][]int) {
	depth := p.depths()
	under = map[int][]int{}
	for i, n := range p.nodes {
		at := -1
		for _, e := range n.prerequisites {
			if depth[e.to] < depth[i] && (at < 0 || depth[e.to] > depth[at] || depth[e.to] == depth[at] && e.to < at) {
				at = e.to
			}
		}
		under[at] = append(under[at], i)
	}
	return under
}

// others names the prerequisites of a node but for the one that it hangs under, and how many more there are if many.
func (p *Picture) others(node, under int) []string {
	const most = 4
	var names []string
	for _, e := range p.nodes[node].prerequisites {
		if name := p.nodes[e.to].title(); e.to != under && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if more := len(names) - most; more > 1 {
		names = append(names[:most], fmt.Sprintf("%d more", more))
	}
	return names
}

// SPDX-License-Identifier: Apache-2.0

package workflow

import (
	"slices"
	"strings"
)

// Picture is a graph to look at, with the states of a run or without. It is immutable and safe for concurrent use.
type Picture struct {
	name  string
	nodes []picturedNode
	rows  []NodeResult // of a run; nil without
}

type picturedNode struct {
	name          string
	prerequisites []picturedEdge
}

type picturedEdge struct {
	to   int
	kind edgeKind
}

func newPicture[P any](name string, nodes []*node[P]) *Picture {
	p := &Picture{name: name, nodes: make([]picturedNode, len(nodes))}
	for i, n := range nodes {
		p.nodes[i].name = n.name
		for _, e := range n.edges {
			p.nodes[i].prerequisites = append(p.nodes[i].prerequisites, picturedEdge{int(e.to.index), e.kind})
		}
	}
	return p
}

func (p *Picture) with(rows []NodeResult) *Picture {
	return &Picture{name: p.name, nodes: p.nodes, rows: rows}
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

// depths returns the longest way from a node without prerequisites to each node. The graph has no cycles.
func (p *Picture) depths() []int {
	depth := make([]int, len(p.nodes))
	var of func(int) int
	of = func(i int) int {
		if depth[i] == 0 {
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
			if at < 0 || depth[e.to] > depth[at] || depth[e.to] == depth[at] && e.to < at {
				at = e.to
			}
		}
		under[at] = append(under[at], i)
	}
	return under
}

// others names the prerequisites of a node but for the one that it hangs under.
func (p *Picture) others(node, under int) []string {
	var names []string
	for _, e := range p.nodes[node].prerequisites {
		if name := p.nodes[e.to].name; e.to != under && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

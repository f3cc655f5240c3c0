// SPDX-License-Identifier: Apache-2.0

package workflow

// Picture is a graph to look at, with the states of a run or without. It is immutable.
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

// SPDX-License-Identifier: Apache-2.0

package workflow

import (
	"fmt"
	"slices"
)

// Folded returns the picture with each group, and each Repeat with all of its instances, as one node, unless it is part
// of another. Folding may show a cycle where two groups depend on nodes of each other.
func (p *Picture) Folded() *Picture {
	out := &Picture{name: p.name}
	into, units := make([]int, len(p.nodes)), map[string]int{}
	members := [][]int{}
	for i, n := range p.nodes {
		name, single := n.name, len(n.groups) == 0
		if !single {
			name = n.groups[0]
		}
		unit, known := units[name]
		if single || !known {
			unit = len(out.nodes)
			units[name] = unit
			out.nodes = append(out.nodes, picturedNode{name: name, path: n.path})
			members = append(members, nil)
		}
		into[i] = unit
		members[unit] = append(members[unit], i)
	}
	for i, n := range p.nodes {
		for _, e := range n.prerequisites {
			out.nodes[into[i]].add(into[i], picturedEdge{into[e.to], e.kind})
		}
	}
	for unit, of := range members {
		if p.nodes[of[0]].groups != nil {
			out.nodes[unit].folds = len(of)
		}
		if p.rows != nil {
			out.rows = append(out.rows, p.worst(out.nodes[unit].name, of))
		}
	}
	return out
}

// add adds an edge between folded nodes, once; a plain one is shown before others.
func (n *picturedNode) add(from int, e picturedEdge) {
	if e.to == from {
		return
	}
	at := slices.IndexFunc(n.prerequisites, func(other picturedEdge) bool { return other.to == e.to })
	if at < 0 {
		n.prerequisites = append(n.prerequisites, e)
		return
	}
	n.prerequisites[at].kind = min(n.prerequisites[at].kind, e.kind)
}

// worst returns the row of a part of the graph.
func (p *Picture) worst(name string, of []int) NodeResult {
	if p.nodes[of[0]].groups == nil {
		return p.rows[of[0]]
	}
	worst, fine := of[0], 0
	for _, i := range of {
		if concern(p.rows[i].State) > concern(p.rows[worst].State) {
			worst = i
		}
		if concern(p.rows[i].State) <= concern(Ready) {
			fine++
		}
	}
	row := p.rows[worst]
	if fine < len(of) {
		row.Message = fmt.Sprintf("%s: %s", row.Title(), row.explanation())
		row.Reason = fmt.Sprintf("%d of %d fine", fine, len(of))
		row.BlockedBy = nil
	}
	row.Name, row.Key = name, ""
	return row
}

// concern orders states by how much a person wants to know of them.
func concern(s State) int {
	return slices.Index([]State{
		Inactive, Disabled, Collected, Deleted, Ready, Unplanned, Blocked, Deleting, Waiting, NotReady, Failed,
	}, s)
}

// cluster is a group or a Repeat in an open picture.
type cluster struct {
	name  string
	nodes []int
	inner []*cluster
}

// clusters returns the whole picture as one, with all groups and Repeats in it.
func (p *Picture) clusters() *cluster {
	all, known := &cluster{}, map[string]*cluster{}
	for i, n := range p.nodes {
		at := all
		for _, name := range n.groups {
			if known[name] == nil {
				known[name] = &cluster{name: name}
				at.inner = append(at.inner, known[name])
			}
			at = known[name]
		}
		at.nodes = append(at.nodes, i)
	}
	return all
}

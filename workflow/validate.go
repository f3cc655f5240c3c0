// SPDX-License-Identifier: Apache-2.0

package workflow

import (
	"fmt"
	"slices"
)

const maxName = 63

// check finds the mistakes of single nodes.
func (g *graph[P]) check() (mistakes []error) {
	if !isLabel(g.name) {
		wrong := &BuildError{Mistake: InvalidName, Node: g.name, advice: "the workflow's name " + notLabel}
		mistakes = append(mistakes, wrong)
	}
	first := make(map[string]bool, len(g.nodes))
	for _, n := range g.nodes {
		for _, wrong := range n.check(first[n.name]) {
			mistakes = append(mistakes, wrong)
		}
		first[n.name] = true
	}
	return mistakes
}

// checkCycles finds the mistakes that only the whole graph shows. Gone edges are looked at only in a graph without
// cycles.
func (g *graph[P]) checkCycles(l links) (mistakes []error) {
	next := make([][]int32, l.count())
	for v := range next {
		for _, a := range l.prerequisites.of(int32(v)) {
			next[v] = append(next[v], a.to)
		}
	}
	if len(l.topological()) < len(g.nodes) {
		for _, cycle := range cycles(next) {
			path := g.names(cycle)
			mistakes = append(mistakes, &BuildError{
				Mistake: Cycle, Node: path[0], Path: path, advice: "these wait for each other: remove one of the edges",
			})
		}
		return mistakes
	}
	for _, pair := range g.goneCycles(l) {
		names := g.names(pair[:])
		mistakes = append(mistakes, &BuildError{Mistake: GoneCycle, Node: names[0], advice: fmt.Sprintf(
			"waits until %q is gone, which may wait for %q itself: use Loose(%s) where something keeps it until reconciled",
			names[1], names[0], names[1])})
	}
	return mistakes
}

func (g *graph[P]) goneCycles(l links) [][2]int32 {
	manages, some := make([]bool, len(g.nodes)), false
	for i, n := range g.nodes {
		manages[i] = n.manages
		some = some || slices.ContainsFunc(n.edges, func(e edge[P]) bool { return e.kind == gone })
	}
	if !some {
		return nil
	}
	return goneCycles(l, manages)
}

func (g *graph[P]) names(vertices []int32) []string {
	names := make([]string, len(vertices))
	for i, v := range vertices {
		names[i] = g.nodes[v].name
	}
	return names
}

func (n *node[P]) check(duplicate bool) (mistakes []*BuildError) {
	mistake := func(kind Mistake, advice string) {
		mistakes = append(mistakes, &BuildError{Mistake: kind, Node: n.name, advice: advice})
	}
	if !isLabel(n.name) {
		mistake(InvalidName, "the name "+notLabel)
	}
	if duplicate {
		mistake(Duplicate, "declared twice: give each node its own name")
	}
	foreign, self, late := n.wrongEdges()
	if foreign {
		mistake(UnknownPrerequisite,
			"depends on a node of another workflow, or on a nil handle: declare it with the same builder")
	}
	if self {
		mistake(SelfDependence, "depends on itself")
	}
	if late != "" {
		mistake(CleanupPrerequisite, fmt.Sprintf(
			"requires %q, which exists only in a cleanup: use Optional(%s), to be gone before it begins", late, late))
	}
	return mistakes
}

// wrongEdges looks for edges that no graph may have; late is the name of what exists too late to be required.
func (n *node[P]) wrongEdges() (foreign, self bool, late string) {
	for _, e := range n.edges {
		switch {
		case e.to == nil || e.to.graph != n.graph:
			foreign = true
		case e.to == n:
			self = true
		case e.to.cleanup && !n.cleanup && e.kind.required():
			late = e.to.name
		}
	}
	return foreign, self, late
}

const notLabel = "isn't a DNS label: 1 to 63 of a-z, 0-9 and -, the first and the last not a -"

// isLabel reports whether name is a DNS label as in RFC 1123.
func isLabel(name string) bool {
	if name == "" || len(name) > maxName || name[0] == '-' || name[len(name)-1] == '-' {
		return false
	}
	for _, c := range []byte(name) {
		if c != '-' && (c < 'a' || c > 'z') && (c < '0' || c > '9') {
			return false
		}
	}
	return true
}

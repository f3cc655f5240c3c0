// SPDX-License-Identifier: Apache-2.0

package workflow

import (
	"fmt"
	"strings"
)

// Mermaid draws the graph as a Mermaid flowchart, ending in a newline: arrows run from a prerequisite to what depends
// on it, those that needn't be ready are labelled. With the states of a run the nodes are coloured.
func (p *Picture) Mermaid() string {
	var out strings.Builder
	out.WriteString("flowchart LR\n")
	for i, n := range p.nodes {
		label := n.title()
		if p.rows != nil {
			label += "<br/>" + string(p.rows[i].State)
		}
		fmt.Fprintf(&out, "    n%d[\"%s\"]\n", i, label)
	}
	for i, n := range p.nodes {
		for _, e := range n.prerequisites {
			fmt.Fprintf(&out, "    n%d %s n%d\n", e.to, mermaidArrow(e.kind), i)
		}
	}
	for i := range p.rows {
		fmt.Fprintf(&out, "    style n%d fill:%s\n", i, lookOf(p.rows[i].State).fill)
	}
	return out.String()
}

func mermaidArrow(k edgeKind) string {
	switch k {
	case ready:
		return "-->"
	case optional, loose, gone:
		return "-. " + k.String() + " .->"
	default:
		return "-- " + k.String() + " -->"
	}
}

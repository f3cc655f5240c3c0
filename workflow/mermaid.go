// SPDX-License-Identifier: Apache-2.0

package workflow

import (
	"fmt"
	"strings"
)

// Mermaid draws the graph as a Mermaid flowchart, ending in a newline: arrows run from a prerequisite to what depends
// on it, those that needn't be ready are labelled; groups and Repeats are framed. With the states of a run it is
// coloured.
func (p *Picture) Mermaid() string {
	m := mermaid{picture: p}
	m.out.WriteString("flowchart LR\n")
	m.draw(p.clusters(), "    ")
	for i, n := range p.nodes {
		for _, e := range n.prerequisites {
			fmt.Fprintf(&m.out, "    n%d %s n%d\n", e.to, mermaidArrow(e.kind), i)
		}
	}
	for i := range p.rows {
		fmt.Fprintf(&m.out, "    style n%d fill:%s\n", i, lookOf(p.rows[i].State).fill)
	}
	return m.out.String()
}

type mermaid struct {
	picture *Picture
	out     strings.Builder
	frames  int
}

func (m *mermaid) draw(c *cluster, indent string) {
	for _, i := range c.nodes {
		label := m.picture.nodes[i].title()
		if m.picture.rows != nil {
			label += "<br/>" + string(m.picture.rows[i].State)
		}
		fmt.Fprintf(&m.out, "%sn%d[\"%s\"]\n", indent, i, escapeMermaid(label))
	}
	for _, inner := range c.inner {
		fmt.Fprintf(&m.out, "%ssubgraph g%d[\"%s\"]\n", indent, m.frames, inner.name)
		m.frames++
		m.draw(inner, indent+"    ")
		m.out.WriteString(indent + "end\n")
	}
}

// escapeMermaid is for keys, which may be any text.
func escapeMermaid(label string) string { return strings.ReplaceAll(label, `"`, "#quot;") }

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

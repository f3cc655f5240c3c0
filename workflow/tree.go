// SPDX-License-Identifier: Apache-2.0

package workflow

import (
	"strings"
	"unicode/utf8"
)

// TreeOptions say how [Picture.Tree] draws. The zero value draws plain text.
type TreeOptions struct {
	// Color adds ANSI colours by state, for terminals.
	Color bool
	// Width cuts longer lines, in characters; 0 cuts none.
	Width int
}

// Tree draws the graph as indented text, a line per node, ending in a newline. A node hangs under the prerequisite that
// is furthest from the roots; the others stand behind an arrow.
func (p *Picture) Tree(o TreeOptions) string {
	t := tree{picture: p, options: o, under: p.branches()}
	t.add(p.name, -1)
	t.draw(-1, "")
	widest := 0
	for _, l := range t.lines {
		widest = max(widest, utf8.RuneCountInString(l.text))
	}
	var out strings.Builder
	for _, l := range t.lines {
		out.WriteString(t.render(l, widest))
		out.WriteByte('\n')
	}
	return out.String()
}

type tree struct {
	picture *Picture
	options TreeOptions
	under   map[int][]int
	lines   []treeLine
}

type treeLine struct {
	text string
	node int // -1: the title
}

func (t *tree) add(text string, node int) { t.lines = append(t.lines, treeLine{text, node}) }

func (t *tree) draw(under int, indent string) {
	for i, node := range t.under[under] {
		branch, below := "├─ ", "│  "
		if i == len(t.under[under])-1 {
			branch, below = "└─ ", "   "
		}
		text := indent + branch + t.picture.nodes[node].title()
		if others := t.picture.others(node, under); len(others) > 0 {
			text += " ← " + strings.Join(others, ", ")
		}
		t.add(text, node)
		t.draw(node, indent+below)
	}
}

func (t *tree) render(l treeLine, widest int) string {
	if l.node < 0 || t.picture.rows == nil {
		return cut(l.text, t.options.Width)
	}
	row := &t.picture.rows[l.node]
	pad := strings.Repeat(" ", widest-utf8.RuneCountInString(l.text)+2)
	look := lookOf(row.State)
	state := look.sign + " " + string(row.State)
	rest := ""
	if why := row.explanation(); why != "" {
		rest = strings.Repeat(" ", max(len("Collected")-len(row.State), 0)) + "  " + why
	}
	if t.options.Width > 0 {
		left := t.options.Width - utf8.RuneCountInString(l.text+pad+state)
		rest = cut(rest, max(left, 1))
	}
	if t.options.Color {
		state = "\x1b[" + look.color + "m" + state + "\x1b[0m"
	}
	return l.text + pad + state + rest
}

// cut shortens text to width characters, marking that it did; 0 leaves it as it is.
func cut(text string, width int) string {
	if width <= 0 || utf8.RuneCountInString(text) <= width {
		return text
	}
	return string([]rune(text)[:width-1]) + "…"
}

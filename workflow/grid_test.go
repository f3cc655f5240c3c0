// SPDX-License-Identifier: Apache-2.0

package workflow_test

import (
	"slices"
	"strings"
	"testing"
)

// never is a cell that can't be.
const never = "–"

// grid is a table in which columns with the same cells are one.
type grid struct {
	corner     string
	rows       []string
	columns    []string
	cells      map[string][]string // by column
	transposed bool                // columns are shown as rows
}

func (g *grid) row(name string) { g.rows = append(g.rows, name) }

// cell adds a cell to the last row. All variants must be the same, but for those that can't be.
func (g *grid) cell(t *testing.T, column string, variants []string) {
	t.Helper()
	all := slices.DeleteFunc(slices.Clone(variants), func(cell string) bool { return cell == never })
	if len(all) == 0 {
		all = []string{never}
	}
	if len(slices.Compact(all)) > 1 {
		t.Errorf("%s, %s: not all variants are the same: %q", g.rows[len(g.rows)-1], column, variants)
	}
	if g.cells == nil {
		g.cells = map[string][]string{}
	}
	if g.cells[column] == nil {
		g.columns = append(g.columns, column)
	}
	g.cells[column] = append(g.cells[column], all[0])
}

func (g *grid) String() string {
	var names, seen []string
	var columns [][]string
	for _, column := range g.columns {
		cells := g.cells[column]
		if i := slices.Index(seen, strings.Join(cells, "|")); i >= 0 {
			names[i] += ", " + column
			continue
		}
		names, seen, columns = append(names, column), append(seen, strings.Join(cells, "|")), append(columns, cells)
	}
	lines := [][]string{append([]string{g.corner}, names...)}
	for r, row := range g.rows {
		line := []string{row}
		for _, cells := range columns {
			line = append(line, cells[r])
		}
		lines = append(lines, line)
	}
	if g.transposed {
		lines = transpose(lines)
	}
	var out strings.Builder
	for i, line := range lines {
		out.WriteString("| " + strings.Join(line, " | ") + " |\n")
		if i == 0 {
			out.WriteString(strings.Repeat("|---", len(line)) + "|\n")
		}
	}
	return out.String()
}

func transpose(lines [][]string) (turned [][]string) {
	for c := range lines[0] {
		var line []string
		for _, l := range lines {
			line = append(line, l[c])
		}
		turned = append(turned, line)
	}
	return turned
}

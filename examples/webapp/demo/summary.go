// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// table has a line for each step: seconds, requests, and the writes by kind.
func table(accounts []*account) string {
	head := []string{"step", "sec", "req"}
	for _, k := range kinds() {
		head = append(head, k.name)
	}
	rows := [][]string{head}
	for _, a := range accounts {
		writes := map[string]int{}
		for _, r := range a.writes() {
			writes[nameOf(r)]++
		}
		row := []string{a.name, fmt.Sprintf("%.1f", a.took.Seconds()), strconv.Itoa(len(a.requests))}
		for _, k := range kinds() {
			cell := "·"
			if n := writes[k.name]; n > 0 {
				cell = strconv.Itoa(n)
			}
			row = append(row, cell)
		}
		rows = append(rows, row)
	}
	return align(rows)
}

// align pads the cells of a table: the first column stands left, the others right.
func align(rows [][]string) string {
	widest := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widest[i] = max(widest[i], utf8.RuneCountInString(cell))
		}
	}
	var out strings.Builder
	for _, row := range rows {
		fmt.Fprintf(&out, "%-*s", widest[0], row[0])
		for i, cell := range row[1:] {
			fmt.Fprintf(&out, " %*s", widest[i+1], cell)
		}
		out.WriteByte('\n')
	}
	return out.String()
}

// overspent fails if a step cost more writes of a kind than it may.
func overspent(accounts []*account) error {
	var errs []error
	for _, a := range accounts {
		counts := a.writes().Counts()
		for _, operation := range slices.Sorted(maps.Keys(counts)) {
			if got, most := counts[operation], a.most(operation); got > most {
				errs = append(errs, fmt.Errorf("step %q: %d × %s: want at most %d", a.name, got, operation, most))
			}
		}
	}
	return errors.Join(errs...)
}

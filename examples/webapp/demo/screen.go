// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"

	"golang.org/x/term"

	"github.com/espalier-dev/espalier/workflow"
)

// screen shows the graphs of the applications: on a terminal live, in place and in colour; elsewhere as lines that say
// what has changed. It is safe for concurrent use.
type screen struct {
	out   *os.File
	live  bool
	color bool

	mutex   sync.Mutex
	results map[string]*workflow.Result
	drawn   int             // lines of the picture that stand above the cursor
	changes int             // of states, by runs: how many results differed from the one before
	touched map[string]bool // applications that this step has changed
}

func newScreen(out *os.File) *screen {
	live := term.IsTerminal(int(out.Fd())) && os.Getenv("TERM") != "dumb"
	color := live && os.Getenv("NO_COLOR") == ""
	return &screen{out: out, live: live, color: color, results: map[string]*workflow.Result{}}
}

// print writes to the screen; there is nothing to be done if that fails.
func (s *screen) print(format string, args ...any) { _, _ = fmt.Fprintf(s.out, format, args...) }

// title begins a step. The picture above it stays.
func (s *screen) title(text string) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.drawn, s.touched = 0, map[string]bool{}
	if s.color {
		text = "\x1b[1m" + text + "\x1b[0m"
	}
	s.print("\n▸ %s\n", text)
}

// say prints lines below the picture, which stays as it is.
func (s *screen) say(format string, args ...any) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.drawn = 0
	for line := range strings.Lines(fmt.Sprintf(format, args...)) {
		s.print("  %s\n", strings.TrimSuffix(line, "\n"))
	}
}

// show takes the result of a run.
func (s *screen) show(app string, result *workflow.Result) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	changes := differences(s.results[app], result)
	s.results[app] = result
	if len(changes) == 0 {
		return
	}
	s.changes++
	s.touched[app] = true
	if s.live {
		s.draw()
		return
	}
	for _, change := range changes {
		s.print("  %-5s %s\n", app, change)
	}
}

// runsThatChanged is how many runs, so far, left a node in another state, or in the same for another reason.
func (s *screen) runsThatChanged() int {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.changes
}

// settle leaves the final picture of what a step has changed. On a terminal it stands there already.
func (s *screen) settle() {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if !s.live {
		s.print("%s", s.picture(workflow.TreeOptions{}))
	}
}

// draw draws over what was drawn before, as much as there is room for.
func (s *screen) draw() {
	width, height, err := term.GetSize(int(s.out.Fd()))
	if err != nil {
		width, height = 80, 24
	}
	lines := slices.Collect(strings.Lines(s.picture(workflow.TreeOptions{Color: s.color, Width: width - 3})))
	lines = lines[:min(len(lines), height-2)]
	var out strings.Builder
	if s.drawn > 0 {
		fmt.Fprintf(&out, "\x1b[%dA", s.drawn)
	}
	for _, line := range lines {
		out.WriteString("\x1b[2K" + line)
	}
	out.WriteString("\x1b[J")
	s.drawn = len(lines)
	s.print("%s", out.String())
}

func (s *screen) picture(o workflow.TreeOptions) string {
	var out strings.Builder
	for _, app := range slices.Sorted(maps.Keys(s.touched)) {
		tree := s.results[app].Picture().Tree(o)
		for line := range strings.Lines(strings.Replace(tree, "webapp", app, 1)) {
			out.WriteString("  " + line)
		}
	}
	return out.String()
}

// differences says which nodes are in another state than before, or there for another reason.
func differences(before, after *workflow.Result) (changes []string) {
	for _, n := range after.Nodes {
		was := workflow.NodeResult{State: "new"}
		if before != nil {
			was = before.Node(n.Name)
		}
		if was.State == n.State && was.Reason == n.Reason && slices.Equal(was.BlockedBy, n.BlockedBy) {
			continue
		}
		change := fmt.Sprintf("%-17s %s → %s", n.Name, was.State, n.State)
		if n.Message != "" {
			change += " (" + n.Message + ")"
		} else if len(n.BlockedBy) > 0 {
			change += " (waits for " + strings.Join(n.BlockedBy, ", ") + ")"
		}
		changes = append(changes, change)
	}
	return changes
}

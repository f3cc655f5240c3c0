// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	v1 "github.com/espalier-dev/espalier/examples/webapp/api/v1"
	"github.com/espalier-dev/espalier/workflow"
)

// trees are the graphs of the applications as their last runs left them. They are safe for concurrent use.
type trees struct {
	mutex sync.Mutex
	apps  map[string]tree
	runs  runs
}

type tree struct {
	generation int64
	result     *workflow.Result
}

// runs counts runs of the graph, and those that had something new to say: a node in another state, or for another
// reason, or another generation. Only these write a status.
type runs struct{ all, news int }

func (r runs) since(before runs) runs { return runs{r.all - before.all, r.news - before.news} }

// take notes what a run came to, and says which nodes are in another state than before.
func (t *trees) take(app *v1.WebApp, result *workflow.Result) (transitions []string) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	before := t.apps[app.Name]
	t.runs.all++
	if before.generation != app.Generation || !slices.EqualFunc(rows(before.result), result.Nodes, sameRow) {
		t.runs.news++
	}
	if t.apps == nil {
		t.apps = map[string]tree{}
	}
	t.apps[app.Name] = tree{app.Generation, result}
	for _, line := range transitionsOf(before.result, result) {
		transitions = append(transitions, app.Name+"  "+line)
	}
	return transitions
}

func (t *trees) count() runs {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	return t.runs
}

// leastWidth is that of a tree beside another.
const leastWidth = 70

// lines draws the trees of applications, side by side if there is room, else one below the other.
func (t *trees) lines(apps []string, width int, color bool) []string {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	beside := len(apps) > 1 && width/len(apps) >= leastWidth+2
	if beside {
		width /= len(apps)
	}
	var out []string
	for _, app := range apps {
		drawn := t.apps[app].draw(app, width-2, color)
		for i, line := range drawn {
			switch {
			case !beside || i >= len(out):
				out = append(out, "  "+line)
			default:
				out[i] += strings.Repeat(" ", max(width-visible(out[i]), 0)) + "  " + line
			}
		}
	}
	return out
}

func (t tree) draw(app string, width int, color bool) []string {
	if t.result == nil {
		return []string{bold(app, color)}
	}
	_, nodes, _ := strings.Cut(t.result.Picture().Tree(workflow.TreeOptions{Color: color, Width: width}), "\n")
	title := fmt.Sprintf("%s, generation %d", bold(app, color), t.generation)
	return append([]string{title}, strings.Split(strings.TrimSuffix(nodes, "\n"), "\n")...)
}

// visible is how many characters of a line are seen: colours aren't.
func visible(line string) int {
	n := utf8.RuneCountInString(line)
	for {
		start := strings.Index(line, "\x1b[")
		if start < 0 {
			return n
		}
		line = line[start:]
		end := strings.IndexByte(line, 'm') + 1
		n -= end
		line = line[end:]
	}
}

// transitionsOf says which nodes are in another state than before, and why.
func transitionsOf(before, after *workflow.Result) (lines []string) {
	for _, n := range after.Nodes {
		was := workflow.NodeResult{State: "new"}
		if before != nil {
			was = before.Node(n.Name)
		}
		if was.State == n.State {
			continue
		}
		line := fmt.Sprintf("%-17s %s → %s", n.Name, was.State, n.State)
		switch {
		case n.Message != "":
			line += " (" + n.Message + ")"
		case len(n.BlockedBy) > 0:
			line += " (waits for " + strings.Join(n.BlockedBy, ", ") + ")"
		}
		lines = append(lines, line)
	}
	return lines
}

func rows(r *workflow.Result) []workflow.NodeResult {
	if r == nil {
		return nil
	}
	return r.Nodes
}

func sameRow(a, b workflow.NodeResult) bool {
	return a.State == b.State && a.Reason == b.Reason && a.Message == b.Message && slices.Equal(a.BlockedBy, b.BlockedBy)
}

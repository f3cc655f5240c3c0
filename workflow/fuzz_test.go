// SPDX-License-Identifier: Apache-2.0

package workflow_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/espalier-dev/espalier/workflow"
)

// FuzzBuild declares whatever bytes say, sensible or not: Build names the node of every mistake, and what it accepts
// ends in all modes.
func FuzzBuild(f *testing.F) { // A2 A4
	for _, seed := range []string{
		"", "\x00\x00\x01\x01", "\x00\x00\x00\x03\x01\x00\x04\x00\x01", "\x02\x05\x00\x01\x00\x02\x03\x01\x02\x04\x02\x00\x00",
		"\x02\x00\x02\x01\x00\x01\x00\x02\x03\x03\x00\x04\x05\x03\x06\x02", "\x05\x00\x01\x00\x02\x04\x00\x01\x06\x03\x00\x07\x07\x07",
		"\x01\x01\x00\x02\x03\x06\x02\x00\x00\x01\x02\x04\x07\x08\x01\x09\x02\x04\x01\x00\x03\x05\x06",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(checkScript)
}

// Scripts that nobody has learnt anything from.
func TestRandomScripts(t *testing.T) { // A2 A4
	for seed := range uint64(500 * *times) {
		d := dice(seed)
		script := make([]byte, d.roll(120))
		for i := range script {
			script[i] = byte(d.roll(256))
		}
		checkScript(t, script)
		if t.Failed() {
			t.Fatalf("seed %d: %q", seed, script)
		}
	}
}

func checkScript(t *testing.T, script []byte) {
	t.Helper()
	w, b := newWorld(), workflow.NewBuilder[*primary]("fuzzed")
	author := &author{script: script, world: w, foreign: workflow.NewBuilder[*primary]("foreign")}
	for len(author.script) > 0 {
		author.declare(b, 0)
	}
	built, err := b.Build()
	if err != nil {
		for _, mistake := range buildErrors(err) {
			if !strings.Contains(mistake.Error(), mistake.Node) {
				t.Errorf("it doesn't name %q: %v", mistake.Node, mistake)
			}
		}
		if len(buildErrors(err)) == 0 {
			t.Errorf("it names no node: %v", err)
		}
		return
	}
	runner, err := workflow.NewRunner(built, nil, workflow.Options{MaxConcurrent: author.next(3)})
	if err != nil {
		t.Fatal(err)
	}
	if author.next(4) == 0 {
		author.handles = append(author.handles, workflow.Add(workflow.NewBuilder[*primary]("other"), "x", object{world: w}))
		author.handles[0].DependsOn(author.handles[0])
		if _, err := workflow.NewRunner(built, nil, workflow.Options{}); err == nil && author.handles[0].Name() != "x" {
			t.Error("a refinement after Build is taken")
		}
	}
	for _, do := range []func(context.Context, workflow.Subject[*primary]) *workflow.Result{
		runner.Plan, runner.Reconcile, runner.Reconcile, runner.Cleanup, runner.Cleanup,
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		result := do(ctx, subject)
		if ctx.Err() != nil {
			t.Fatal("it doesn't end")
		}
		cancel()
		if strings.Contains(states(result), "please report") {
			t.Error(result.Err())
		}
	}
}

// author declares a workflow as a script says.
type author struct {
	script  []byte
	world   *world
	foreign *workflow.Builder[*primary]
	handles []handle
	parts   []workflow.Handle[*primary]
	named   int
}

// next is a number below n; 0 at the end of the script.
func (a *author) next(n int) int {
	if len(a.script) == 0 {
		return 0
	}
	at := int(a.script[0]) % n
	a.script = a.script[1:]
	return at
}

var names = []string{"a", "b", "c", "d", "e", "f", "g", "h", "a", "", "-", "A", "a.b", strings.Repeat("x", 63), "ü", "a-b"}

func (a *author) name() string {
	if a.next(64) == 63 {
		return names[a.next(len(names))]
	}
	a.named++
	return fmt.Sprintf("n%d", a.named)
}

func (a *author) declare(b *workflow.Builder[*primary], depth int) {
	for len(a.script) > 0 {
		switch a.next(10) {
		case 0, 1:
			a.handles = append(a.handles, workflow.Add(b, a.name(), object{world: a.world}))
		case 2:
			if depth < 4 {
				a.repeat(b, depth)
			}
		case 3, 4, 5:
			if len(a.handles) > 0 {
				from := len(a.handles) - 1
				if a.next(32) == 31 { // what may come later, too
					from = a.next(len(a.handles))
				}
				a.handles[from].DependsOn(a.edge(from))
			}
		case 6:
			group := b.Group(a.name())
			a.parts = append(a.parts, group.All())
			a.declare(group, depth)
		case 7:
			a.declare(workflow.OnCleanup(b), depth)
		case 8:
			a.behave()
		default:
			return
		}
	}
}

func (a *author) repeat(b *workflow.Builder[*primary], depth int) {
	keys := []string{"a", "b", "c", ""}[:a.next(5)]
	var err error
	if a.next(6) == 5 {
		err = errors.New("no keys")
	}
	bounds, edge := a.next(4), a.edge(len(a.handles))
	part := workflow.Repeat(b, a.name(), func(run) ([]string, error) { return slices.Clone(keys), err },
		func(b *workflow.Builder[*primary], _ workflow.Key[*primary, string]) any {
			a.declare(b, depth+1)
			return nil
		})
	if bounds > 0 {
		part.AtLeast(bounds - 1).MaxUnavailable(a.next(3))
	}
	if bounds == 3 {
		part.InOrder()
	}
	if a.next(2) == 1 {
		part.DependsOn(edge)
	}
	a.parts = append(a.parts, part)
}

// behave makes one of the nodes wait, fail, or not be wanted.
func (a *author) behave() {
	if len(a.handles) == 0 {
		return
	}
	h, answer := a.handles[a.next(len(a.handles))], []string{"met", "unmet", "unknown", "panic"}[a.next(4)]
	ask := func(run) workflow.Verdict { return verdictOf(answer) }
	switch a.next(5) {
	case 0:
		h.ActivateWhen("asked", ask)
	case 1:
		h.ReconcileWhen("asked", ask)
	case 2:
		h.HoldUntil("asked", ask)
	case 3:
		h.ReadyWhen("asked", func(r run, _ string) workflow.Verdict { return ask(r) })
	default:
		h.DeleteWhen("asked", ask)
	}
}

// edge is one to something that was declared before, most often one of the first nodes.
func (a *author) edge(first int) workflow.Edge[*primary] {
	var to workflow.Handle[*primary]
	switch kind := a.next(64); {
	case kind < 44 && first > 0:
		to = a.handles[a.next(first)]
	case kind < 62 && len(a.parts) > 0:
		to = a.parts[a.next(len(a.parts))]
	case kind == 62:
		to = workflow.Add(a.foreign, "x", object{world: a.world})
	default:
		return []workflow.Edge[*primary]{nil, handle(nil), workflow.Optional[*primary](nil)}[a.next(3)]
	}
	edge := []string{"", "", "applied", "where", "toCreate", "optional", "loose", "gone"}[a.next(8)]
	if _, ok := to.(handle); !ok && edge == "where" {
		edge = ""
	}
	return prerequisite{Edge: edge}.of(to)
}

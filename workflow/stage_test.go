// SPDX-License-Identifier: Apache-2.0

package workflow_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/espalier-dev/espalier/workflow"
)

// stage is where the actors of a scenario play, and notes what they do.
type stage struct {
	phase  string // "first", "second" or "mixed": in which the work is done
	delays bool

	mutex     sync.Mutex
	clock     int
	began     map[string]int
	ended     map[string]int
	calls     map[string][]string // "reconciled" and "deleted"
	evaluated map[string][]string
}

func newStage(phase string, delays bool) *stage {
	return &stage{
		phase: phase, delays: delays,
		began: map[string]int{}, ended: map[string]int{}, calls: map[string][]string{}, evaluated: map[string][]string{},
	}
}

func (s *stage) begin(call, node string) {
	s.pause()
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.clock++
	s.began[node] = s.clock
	s.calls[call] = append(s.calls[call], node)
}

func (s *stage) end(node string) {
	s.pause()
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.clock++
	s.ended[node] = s.clock
}

func (s *stage) asked(condition, node string) {
	s.pause()
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.evaluated[condition] = append(s.evaluated[condition], node)
}

// pause makes the interleaving random. It isn't there to wait for anything.
func (s *stage) pause() {
	if s.delays {
		time.Sleep(time.Duration(rand.IntN(100)) * time.Microsecond)
	}
}

// secondPhase decides where the work of the node at index is done.
func (s *stage) secondPhase(index int) bool {
	return s.phase == "second" || s.phase == "mixed" && index%2 == 1
}

type primary struct{}

type run = *workflow.Run[*primary]

type handle = *workflow.Node[*primary, string]

// player is the kind of an actor that manages something, idler of one that doesn't.
type player struct {
	actor
	stage *stage
	index int
}

type idler struct{ player }

func (idler) ManagesNothing() {}

func (p player) Bind(any) (workflow.Resource[*primary, string], error) { return p, nil }

// Collectable is part of the contract with the Runner.
func (p player) Collectable() bool { return p.actor.Collectable }

func (p player) Observe(run) (string, workflow.Presence, error) {
	if p.Exists == nil || *p.Exists {
		return p.Name, workflow.Present, nil
	}
	return "", workflow.Absent, nil
}

func (p player) Prepare(run) (workflow.Step[string], error) {
	reconcile := func() (workflow.Step[string], error) {
		p.stage.begin("reconciled", p.Name)
		defer p.stage.end(p.Name)
		return workflow.Step[string]{Value: p.Name, Ready: workflow.Met()}, outcome(p.OnReconcile)
	}
	if !p.stage.secondPhase(p.index) {
		return reconcile()
	}
	return workflow.Step[string]{Do: func(context.Context) (workflow.Outcome[string], error) {
		step, err := reconcile()
		return workflow.Outcome[string]{Value: step.Value, Ready: step.Ready, Operation: workflow.Update}, err
	}}, nil
}

func (p player) Delete(run) (workflow.Removal, error) {
	remove := func(context.Context) (workflow.Removal, error) {
		p.stage.begin("deleted", p.Name)
		defer p.stage.end(p.Name)
		return workflow.Removal{Gone: p.OnDelete != "pending"}, outcome(p.OnDelete)
	}
	if !p.stage.secondPhase(p.index) {
		return remove(context.Background())
	}
	return workflow.Removal{Do: remove}, nil
}

func outcome(behaviour string) error {
	switch behaviour {
	case "error":
		return errors.New("it failed")
	case "panic":
		panic("it panicked")
	case "notyet":
		return workflow.NotYet("NotYet", "not yet")
	}
	return nil
}

func verdictOf(answer string) workflow.Verdict {
	switch answer {
	case "met":
		return workflow.Met()
	case "unmet":
		return workflow.Unmet("Unmet", "it isn't met")
	case "broken":
		return workflow.Broken("Broken", "it is broken")
	case "panic":
		panic("a condition panicked")
	}
	return workflow.Unknown(errors.New("it isn't known"))
}

// build declares the scenario's nodes first and its edges afterwards.
func (s scenario) build(on *stage) (*workflow.Workflow[*primary], error) {
	b, foreign := workflow.NewBuilder[*primary]("scenario"), workflow.NewBuilder[*primary]("foreign")
	handles, byName := make([]handle, len(s.Nodes)), map[string]handle{}
	for i, a := range s.Nodes {
		p := player{actor: a, stage: on, index: i}
		if a.Manages == "nothing" {
			handles[i] = workflow.Add(b, a.Name, idler{p})
		} else {
			handles[i] = workflow.Add(b, a.Name, p)
		}
		p.conditions(handles[i])
		if byName[a.Name] == nil {
			byName[a.Name] = handles[i]
		}
	}
	for i, a := range s.Nodes {
		for _, e := range a.DependsOn {
			x := byName[e.Node]
			if x == nil {
				x = workflow.Add(foreign, e.Node, player{})
			}
			handles[i].DependsOn(e.of(x))
		}
	}
	return b.Build()
}

func (p player) conditions(h handle) {
	ask := func(kind, answer string) (string, func(run) workflow.Verdict) {
		return kind, func(run) workflow.Verdict {
			p.stage.asked(kind, p.Name)
			return verdictOf(answer)
		}
	}
	for kind, c := range map[string]struct {
		answer string
		add    func(string, func(run) workflow.Verdict) handle
	}{
		"activate": {p.Activate, h.ActivateWhen}, "reconcileWhen": {p.ReconcileWhen, h.ReconcileWhen},
		"holdUntil": {p.HoldUntil, h.HoldUntil}, "deleteWhen": {p.DeleteWhen, h.DeleteWhen},
		"deletedWhen": {p.DeletedWhen, h.DeletedWhen},
	} {
		if c.answer != "" {
			c.add(ask(kind, c.answer))
		}
	}
	if p.ReadyWhen != "" {
		name, holds := ask("readyWhen", p.ReadyWhen)
		h.ReadyWhen(name, func(r run, _ string) workflow.Verdict { return holds(r) })
	}
}

func (p prerequisite) of(x workflow.Handle[*primary]) workflow.Edge[*primary] {
	switch p.Edge {
	case "applied":
		return workflow.Applied(x)
	case "where":
		return workflow.Where(x.(workflow.Source[*primary, string]), func(string) workflow.Verdict { return verdictOf(p.Predicate) })
	case "toCreate":
		return workflow.ToCreate(x)
	case "optional":
		return workflow.Optional(x)
	case "loose":
		return workflow.Loose(x)
	case "gone":
		return workflow.Gone(x)
	case "":
		return x
	}
	panic("no such edge: " + p.Edge)
}

// play runs the scenario once and returns everything that isn't as expected.
func (s scenario) play(t *testing.T, phase string, o workflow.Options, delays bool) []string {
	t.Helper()
	on := newStage(phase, delays)
	w, err := s.build(on)
	if err != nil || s.Expect.Build != nil {
		return s.checkBuild(err)
	}
	runner, err := workflow.NewRunner(w, nil, o)
	if err != nil {
		t.Fatal(err)
	}
	subject := workflow.Subject[*primary]{Primary: &primary{}, ID: "a"}
	var result *workflow.Result
	if s.Mode == "cleanup" {
		result = runner.Cleanup(t.Context(), subject)
	} else {
		result = runner.Reconcile(t.Context(), subject)
	}
	return s.check(on, result)
}

func (s scenario) checkBuild(err error) (wrong []string) {
	var kinds []string
	var paths [][]string
	for _, mistake := range buildErrors(err) {
		if !slices.Contains(kinds, string(mistake.Mistake)) {
			kinds = append(kinds, string(mistake.Mistake))
		}
		if mistake.Mistake == workflow.Cycle {
			paths = append(paths, mistake.Path)
		}
	}
	slices.Sort(kinds)
	want := s.Expect.Paths
	if s.Expect.Path != nil {
		want = [][]string{s.Expect.Path}
	}
	wrong = differ(wrong, "build", kinds, slices.Sorted(slices.Values(s.Expect.Build)))
	return differ(wrong, "paths", paths, want)
}

func buildErrors(err error) (all []*workflow.BuildError) {
	switch e := err.(type) { //nolint:errorlint // the tree is walked by hand, to see every mistake
	case nil:
	case *workflow.BuildError:
		all = append(all, e)
	case interface{ Unwrap() []error }:
		for _, inner := range e.Unwrap() {
			all = append(all, buildErrors(inner)...)
		}
	default:
		all = buildErrors(errors.Unwrap(err))
	}
	return all
}

func (s scenario) check(on *stage, result *workflow.Result) (wrong []string) {
	states, blockedBy := map[string]workflow.State{}, map[string][]string{}
	for i, n := range result.Nodes {
		states[n.Name] = n.State
		if n.BlockedBy != nil {
			blockedBy[n.Name] = n.BlockedBy
		}
		if n.Name != s.Nodes[i].Name {
			wrong = append(wrong, fmt.Sprintf("row %d is of %q: want declaration order", i, n.Name))
		}
	}
	for _, names := range on.evaluated {
		slices.Sort(names)
	}
	wrong = differ(wrong, "states", states, s.Expect.States)
	wrong = differ(wrong, "blockedBy", blockedBy, s.Expect.BlockedBy)
	wrong = differ(wrong, "reconciled", slices.Sorted(slices.Values(on.calls["reconciled"])), s.Expect.Reconciled)
	wrong = differ(wrong, "deleted", slices.Sorted(slices.Values(on.calls["deleted"])), s.Expect.Deleted)
	wrong = differ(wrong, "evaluated", on.evaluated, s.Expect.Evaluated)
	for _, pair := range s.Expect.Before {
		if on.ended[pair[0]] == 0 || on.ended[pair[0]] > on.began[pair[1]] {
			wrong = append(wrong, fmt.Sprintf("before: %s hadn't ended when %s began", pair[0], pair[1]))
		}
	}
	if want := s.Expect.Ready; want != nil && result.Ready() != *want {
		wrong = append(wrong, fmt.Sprintf("ready: got %v", result.Ready()))
	}
	if want := s.Expect.Complete; want != nil && result.Complete() != *want {
		wrong = append(wrong, fmt.Sprintf("complete: got %v", result.Complete()))
	}
	return wrong
}

func differ(wrong []string, what string, got, want any) []string {
	if g, w := fmt.Sprint(got), fmt.Sprint(want); g != w {
		return append(wrong, fmt.Sprintf("%s:\n    got  %s\n    want %s", what, g, w))
	}
	return wrong
}

func (s scenario) graph() string {
	var out strings.Builder
	for _, a := range s.Nodes {
		fmt.Fprintf(&out, "    %+v\n", a)
	}
	return out.String()
}

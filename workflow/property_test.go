// SPDX-License-Identifier: Apache-2.0

package workflow_test

import (
	"flag"
	"fmt"
	"strings"
	"testing"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/espalier-dev/espalier/workflow"
)

// No test may leave a goroutine behind.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The reference itself is right about the scenarios.
func TestReferenceAgreesWithScenarios(t *testing.T) {
	for _, s := range readScenarios(t, *folder) {
		if s.Expect.Build != nil {
			continue
		}
		want := s.Expect
		s.Expect = work(s).expectation()
		for _, wrong := range (scenario{Expect: want}).compare(s.Expect) {
			t.Errorf("%s: %s", s.Name, wrong)
		}
	}
}

// compare is what differs between two expectations, but for the order of calls.
func (s scenario) compare(got expectation) (wrong []string) {
	want := s.Expect
	wrong = differ(wrong, "states", got.States, want.States)
	wrong = differ(wrong, "blockedBy", got.BlockedBy, want.BlockedBy)
	wrong = differ(wrong, "reconciled", got.Reconciled, want.Reconciled)
	wrong = differ(wrong, "deleted", got.Deleted, want.Deleted)
	wrong = differ(wrong, "evaluated", got.Evaluated, want.Evaluated)
	if want.Ready != nil {
		wrong = differ(wrong, "ready", *got.Ready, *want.Ready)
	}
	if want.Complete != nil {
		wrong = differ(wrong, "complete", *got.Complete, *want.Complete)
	}
	return wrong
}

var times = flag.Int("times", 1, "multiplies how many random graphs are played: one is 10,000")

// Random graphs of many shapes, with random answers, errors, panics and delays, come to what the reference works out:
// nothing is written before its edges hold, nothing is deleted under a holder or on an unknown, and every run ends.
//
// R1 R2 R3 R4 R5 R6 R7 R8 R9 R10 R11 R12 R13 R14 R15 R16 R17 R18 R19 A3 A9 J16.
func TestRandomGraphs(t *testing.T) {
	for range *times {
		rapid.Check(t, func(rt *rapid.T) {
			for range 100 {
				s := randomScenario(rapid.Uint64().Draw(rt, "seed"))
				if _, err := s.build(newStage("first", false)); err != nil {
					continue // a Gone edge that would wait for itself
				}
				s.Expect = work(s).expectation()
				phase := []string{"first", "second", "mixed"}[len(s.Nodes)%3]
				options := workflow.Options{MaxConcurrent: []int{0, 1, 2}[len(s.Nodes)%3]}
				if wrong := s.play(t, phase, options, len(s.Nodes)%7 == 0); wrong != nil {
					rt.Fatalf("%s\n  graph (%s):\n%s", strings.Join(wrong, "\n  "), s.Mode, s.graph())
				}
			}
		})
	}
}

func randomScenario(seed uint64) scenario {
	d := dice(seed)
	s := scenario{Mode: d.pick("reconcile", "reconcile", "reconcile", "cleanup")}
	n := 1 + d.roll(12)
	if d.roll(10) == 0 {
		n = 1 + d.roll(60)
	}
	density := 1 + d.roll(4)
	for i := range n {
		a := actor{Name: fmt.Sprintf("n%d", i)}
		d.behave(&a)
		for range d.roll(density + 1) {
			if i > 0 {
				a.DependsOn = append(a.DependsOn, d.edge(a, fmt.Sprintf("n%d", d.roll(i))))
			}
		}
		s.Nodes = append(s.Nodes, a)
	}
	if d.roll(2) == 0 { // declaration order is free
		for i := range s.Nodes {
			k := d.roll(n)
			s.Nodes[i], s.Nodes[k] = s.Nodes[k], s.Nodes[i]
		}
	}
	return s
}

// dice is a small generator of its own (splitmix64), so that a seed says everything.
type diceState struct{ state uint64 }

func dice(seed uint64) *diceState { return &diceState{seed} }

func (d *diceState) roll(n int) int {
	d.state += 0x9e3779b97f4a7c15
	z := d.state
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb
	return int((z ^ (z >> 31)) % uint64(n))
}

func (d *diceState) pick(from ...string) string { return from[d.roll(len(from))] }

// seldom is one of the answers in a third of the cases, else none.
func (d *diceState) seldom(from ...string) string {
	if d.roll(3) > 0 {
		return ""
	}
	return d.pick(from...)
}

func (d *diceState) behave(a *actor) {
	a.Activate = d.seldom("met", "met", "unmet", "unknown", "panic")
	a.ReconcileWhen = d.seldom("met", "unmet", "unmet", "unknown", "panic")
	a.HoldUntil = d.seldom("met", "met", "unmet", "unknown")
	a.ReadyWhen = d.seldom("met", "met", "unmet", "unknown", "broken")
	a.OnReconcile = d.seldom("ok", "ok", "notyet", "error", "panic")
	if d.roll(4) == 0 {
		a.Manages = "nothing"
		return
	}
	a.Exists = new(d.roll(3) > 0)
	a.Collectable = d.roll(4) > 0
	a.DeleteWhen = d.seldom("met", "met", "unmet", "unknown")
	a.DeletedWhen = d.seldom("met", "met", "unmet", "unknown", "panic")
	a.OnDelete = d.seldom("gone", "pending", "error", "panic")
}

func (d *diceState) edge(of actor, to string) prerequisite {
	p := prerequisite{Node: to, Edge: d.pick("", "", "", "applied", "where", "toCreate", "optional", "optional", "loose", "gone")}
	if p.Edge == "toCreate" && of.Manages == "nothing" {
		p.Edge = ""
	}
	if p.Edge == "where" {
		p.Predicate = d.pick("met", "met", "unmet", "unknown", "panic")
	}
	return p
}

// A node that failed in the plan, a Gone edge and what one looks through can make a wait in a circle, which Build can't
// refuse: the run ends all the same.
func TestWaitInACircleEnds(t *testing.T) { // R4 R6 R9 R13
	s := scenario{Mode: "reconcile", Nodes: []actor{
		{Name: "base", ReconcileWhen: "unmet"},
		{Name: "middle", DependsOn: []prerequisite{{Node: "base"}}},
		{Name: "value", Manages: "nothing", Activate: "unknown", DependsOn: []prerequisite{{Node: "middle"}}},
		{Name: "user", DependsOn: []prerequisite{{Node: "base", Edge: "gone"}, {Node: "value"}}},
	}}
	s.Expect = work(s).expectation()
	want := map[string][]string{"base": {"value"}, "middle": {"value"}, "user": {"value"}}
	if got := fmt.Sprint(s.Expect.BlockedBy); got != fmt.Sprint(want) {
		t.Errorf("the reference: got %s, want %v", got, want)
	}
	for _, wrong := range s.play(t, "mixed", workflow.Options{}, false) {
		t.Error(wrong)
	}
}

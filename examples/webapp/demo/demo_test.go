// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/espalier-dev/espalier/envtest"
	"github.com/espalier-dev/espalier/workflow"
)

func result(states ...workflow.State) *workflow.Result {
	r := &workflow.Result{}
	for i, state := range states {
		r.Nodes = append(r.Nodes, workflow.NodeResult{Name: string(rune('a' + i)), State: state})
	}
	return r
}

func TestDifferences(t *testing.T) {
	before, after := result(workflow.NotReady, workflow.Ready), result(workflow.Ready, workflow.Blocked)
	after.Nodes[1].BlockedBy = []string{"a"}
	want := []string{"a                 NotReady → Ready", "b                 Ready → Blocked (waits for a)"}
	if diff := cmp.Diff(want, differences(before, after)); diff != "" {
		t.Errorf("differences (-want +got):\n%s", diff)
	}
	if got := differences(after, after); got != nil {
		t.Errorf("of a result from itself: %v", got)
	}
	if got := differences(nil, result(workflow.Ready)); len(got) != 1 || !strings.Contains(got[0], "new → Ready") {
		t.Errorf("of the first result: %v", got)
	}
}

func TestScreenOffTheTerminal(t *testing.T) {
	file := filepath.Join(t.TempDir(), "out")
	out, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	s := newScreen(out)
	s.title("Step")
	s.show("shop", result(workflow.Ready))
	s.show("shop", result(workflow.Ready)) // nothing new
	s.say("two\nlines")
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	want := "\n▸ Step\n  shop  a                 new → Ready\n  two\n  lines\n"
	if diff := cmp.Diff(want, string(text)); diff != "" || s.runsThatChanged() != 1 {
		t.Errorf("after %d changes (-want +got):\n%s", s.runsThatChanged(), diff)
	}
}

func TestLimits(t *testing.T) {
	apply := envtest.Request{Verb: "apply", Resource: "services", Namespace: "default", Name: "shop"}
	status := envtest.Request{
		Verb: "apply", Group: "webapp.example.espalier.dev", Resource: "webapps", Subresource: "status", Name: "shop",
	}
	d := &demo{outcomes: []outcome{{
		step: step{name: "step", most: map[string]int{"apply services": 1}}, took: time.Second, changes: 1,
		requests: envtest.RequestLog{apply, status, status},
	}}}
	if err := d.limits(); err != nil {
		t.Errorf("within the limits: %v", err)
	}
	d.outcomes[0].requests = append(d.outcomes[0].requests, apply, status)
	err := d.limits()
	for _, want := range []string{"2 × apply services: want at most 1", "3 × " + statusWrite + ": want at most 2"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v: want %q in it", err, want)
		}
	}
	want := "1.0 s, requests by the operator: 5\n   2 × apply services: default/shop\n   3 × " + statusWrite + ": /shop"
	if diff := cmp.Diff(want, d.outcomes[0].story()); diff != "" {
		t.Errorf("story (-want +got):\n%s", diff)
	}
}

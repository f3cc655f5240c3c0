// SPDX-License-Identifier: Apache-2.0

package workflow_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/espalier-dev/espalier/workflow"
)

func pictured(t *testing.T) *workflow.Runner[*primary] {
	t.Helper()
	s := scenario{Nodes: []actor{
		{Name: "config"},
		{Name: "database", ReadyWhen: "unmet", DependsOn: []prerequisite{{Node: "config"}}},
		{Name: "web", DependsOn: []prerequisite{{Node: "config"}, {Node: "database", Edge: "toCreate"}}, Exists: new(bool)},
		{Name: "ingress", ReconcileWhen: "unmet", DependsOn: []prerequisite{{Node: "web", Edge: "optional"}}},
		{Name: "report", OnReconcile: "error"},
	}}
	w, err := s.build(newStage("first", false))
	if err != nil {
		t.Fatal(err)
	}
	r, err := workflow.NewRunner(w, nil, workflow.Options{MaxConcurrent: 1})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(`scenario
├─ config
│  └─ database
│     └─ web ← config
│        └─ ingress
└─ report
`, w.Picture().Tree(workflow.TreeOptions{})); diff != "" {
		t.Errorf("tree of the workflow (-want +got):\n%s", diff)
	}
	return r
}

func TestTreeOfAResult(t *testing.T) {
	result := pictured(t).Reconcile(t.Context(), workflow.Subject[*primary]{})
	if diff := cmp.Diff(`scenario
├─ config              ✔ Ready
│  └─ database         ◐ NotReady   Unmet: it isn't met
│     └─ web ← config  · Blocked    waits for database
│        └─ ingress    ○ Disabled   Unmet: it isn't met
└─ report              ✘ Failed     Error: it failed
`, result.Picture().Tree(workflow.TreeOptions{})); diff != "" {
		t.Errorf("tree (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff("│     └─ web ← config  \x1b[2m· Blocked\x1b[0m    waits …\n",
		line(result.Picture().Tree(workflow.TreeOptions{Color: true, Width: 43}), 3)); diff != "" {
		t.Errorf("coloured and cut (-want +got):\n%s", diff)
	}
}

func TestMermaid(t *testing.T) {
	result := pictured(t).Reconcile(t.Context(), workflow.Subject[*primary]{})
	if diff := cmp.Diff(`flowchart LR
    n0["config<br/>Ready"]
    n1["database<br/>NotReady"]
    n2["web<br/>Blocked"]
    n3["ingress<br/>Disabled"]
    n4["report<br/>Failed"]
    n0 --> n1
    n0 --> n2
    n1 -- to create --> n2
    n2 -. optional .-> n3
    style n0 fill:#c8e6c9
    style n1 fill:#fff3c4
    style n2 fill:#eceff1
    style n3 fill:#ffffff
    style n4 fill:#ffcdd2
`, result.Picture().Mermaid()); diff != "" {
		t.Errorf("Mermaid (-want +got):\n%s", diff)
	}
}

func TestDOT(t *testing.T) {
	result := pictured(t).Reconcile(t.Context(), workflow.Subject[*primary]{})
	if diff := cmp.Diff(`strict digraph "scenario" {
  graph [
    rankdir=LR
  ];
  node [
    shape=box
    style=filled
    fillcolor=white
  ];

  // Node definitions.
  "config" [
    label="config\nReady"
    fillcolor="#c8e6c9"
  ];
  "database" [
    label="database\nNotReady\nUnmet: it isn't met"
    fillcolor="#fff3c4"
  ];
  "web" [
    label="web\nBlocked\nwaits for database"
    fillcolor="#eceff1"
  ];
  "ingress" [
    label="ingress\nDisabled\nUnmet: it isn't met"
    fillcolor="#ffffff"
  ];
  "report" [
    label="report\nFailed\nError: it failed"
    fillcolor="#ffcdd2"
  ];

  // Edge definitions.
  "config" -> "database";
  "config" -> "web";
  "database" -> "web" [label="to create"];
  "web" -> "ingress" [label="optional"];
}
`, result.Picture().DOT()); diff != "" {
		t.Errorf("DOT (-want +got):\n%s", diff)
	}
}

func line(text string, n int) string {
	for range n {
		for i := range text {
			if text[i] == '\n' {
				text = text[i+1:]
				break
			}
		}
	}
	for i := range text {
		if text[i] == '\n' {
			return text[:i+1]
		}
	}
	return text
}

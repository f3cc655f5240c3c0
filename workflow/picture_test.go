// SPDX-License-Identifier: Apache-2.0

package workflow_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/graph/formats/dot"

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

// grouped is a run of a graph with a group and a Repeat in which one instance is broken.
func grouped(t *testing.T) *workflow.Result {
	t.Helper()
	s := newShards("a", `b"/`)
	cache := s.builder.Group("cache").DependsOn(s.router)
	one := workflow.Add(cache, "one", object{world: s.world})
	workflow.Add(cache.Group("warm"), "two", object{world: s.world}).DependsOn(workflow.Applied(one))
	s.world.broken[`shard-set[b"/]`] = true
	return s.runner(t).Reconcile(t.Context(), subject)
}

func TestPicturesOfGroupsAndRepeats(t *testing.T) {
	picture := grouped(t).Picture()
	for name, got := range map[string]string{
		"grouped.txt": picture.Tree(workflow.TreeOptions{}), "grouped.mmd": picture.Mermaid(), "grouped.dot": picture.DOT(),
		"folded.txt": picture.Folded().Tree(workflow.TreeOptions{}), "folded.mmd": picture.Folded().Mermaid(),
		"folded.dot": picture.Folded().DOT(),
	} {
		golden(t, name, got)
		if strings.HasSuffix(name, ".dot") {
			if _, err := dot.ParseString(got); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	var rows []string
	for _, n := range grouped(t).Folded() {
		rows = append(rows, fmt.Sprintf("%s %s", n.Name, n.State))
	}
	expect(t, "folded rows", strings.Join(rows, ", "), "config Ready, shard NotReady, router Blocked, cache Blocked")
}

// A hundred nodes in a dozen groups.
func TestPictureOfAHundredNodes(t *testing.T) {
	b, w := workflow.NewBuilder[*primary]("hundred"), newWorld()
	var last, all []handle
	for i := range 12 {
		group := b.Group(fmt.Sprintf("part%d", i))
		var now []handle
		for k := range 8 + i%2 {
			n := workflow.Add(group, fmt.Sprintf("n%d", k), object{world: w})
			for at, before := range last {
				if (at+k)%(2+i%3) == 0 {
					n.DependsOn(before)
				}
			}
			now = append(now, n)
		}
		last, all = now, append(all, now...)
	}
	w.broken["part7-n3"] = true
	picture := newRunner(t, b, workflow.Options{}).Reconcile(t.Context(), subject).Picture()
	tree := picture.Tree(workflow.TreeOptions{Width: 120})
	golden(t, "hundred.txt", tree)
	golden(t, "hundred-folded.txt", picture.Folded().Tree(workflow.TreeOptions{Width: 120}))
	if lines := strings.Count(tree, "\n"); lines != len(all)+1 {
		t.Errorf("%d nodes in %d lines", len(all), lines)
	}
}

// Folding can show a cycle, which must not make pictures of it endless.
func TestFoldedCycle(t *testing.T) {
	b := workflow.NewBuilder[*primary]("cycle")
	left, right := b.Group("left"), b.Group("right")
	one := workflow.Add(left, "one", thing{})
	two := workflow.Add(right, "two", thing{}).DependsOn(one)
	workflow.Add(left, "three", thing{}).DependsOn(two)
	w, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("cycle\n└─ right (1) ← left (2)\n   └─ left (2)\n", w.Picture().Folded().Tree(workflow.TreeOptions{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// golden compares with a file, or writes it with -update.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", "pictures", name)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got), see -update:\n%s", name, diff)
	}
}

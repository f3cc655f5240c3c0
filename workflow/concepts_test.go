// SPDX-License-Identifier: Apache-2.0

package workflow_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/espalier-dev/espalier/workflow"
)

const concepts = "../docs/concepts.md"

var update = flag.Bool("update", false, "rewrite the tables of docs/concepts.md")

// The tables of the page, each between two comments, are what the engine does: each cell comes from runs.
//
// R2 R3 R4 R6 R7 R8 R9 R13 R14 R15 R16 F4 F8 F9 F10 F17 F18 F19 F21 F23 F26.
func TestConcepts(t *testing.T) {
	content, err := os.ReadFile(concepts)
	if err != nil {
		t.Fatal(err)
	}
	page := string(content)
	for _, made := range []struct{ name, table string }{
		{"causes", causesPicture(t)},
		{"edges", edgesTable(t)},
		{"conditions", conditionsTable(t)},
		{"deletion", deletionTable(t, false)},
		{"deletion through a value", deletionTable(t, true)},
		{"cleanup", cleanupTable(t)},
	} {
		name, table := made.name, "\n"+made.table+"\n"
		before, rest, begins := strings.Cut(page, "<!-- table: "+name+" -->\n")
		old, after, ends := strings.Cut(rest, "<!-- end of table -->")
		if !begins || !ends || strings.Contains(old, "<!-- table: ") {
			t.Fatalf("%s has no place for the table %q: it needs both marks", concepts, name)
		}
		page = before + "<!-- table: " + name + " -->\n" + table + "<!-- end of table -->" + after
		if !*update && old != table {
			t.Errorf("%s, %s:\n%s%s", concepts, name, without("  page   ", old, table), without("  engine ", table, old))
		}
	}
	if t.Failed() {
		t.Error("if the engine is right: go test ./workflow -run TestConcepts -update")
	} else if *update {
		if err := os.WriteFile(concepts, []byte(page), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// without returns the lines of a table that another doesn't have.
func without(prefix, table, other string) (lines string) {
	for line := range strings.Lines(table) {
		if !slices.Contains(slices.Collect(strings.Lines(other)), line) {
			lines += prefix + line
		}
	}
	return lines
}

// fate is a row or a column of a table: what may become of a node. All its variants must make the same cells.
type fate struct {
	name     string
	variants []actor
}

// bond is an edge from the dependant to the prerequisite, and whether the dependant's dependent is missing.
type bond struct {
	name     string
	variants []prerequisite
	missing  bool
}

// What a fate may need besides the two nodes that a cell is about.
var others = []actor{
	{Name: "waiting", HoldUntil: "unmet"},
	{Name: "inactive", Activate: "unmet"},
	{Name: "unwanted", ReconcileWhen: "unmet"},
}

func on(other string) []prerequisite { return []prerequisite{{Node: other}} }

func edgesTable(t *testing.T) string {
	t.Helper()
	where := func(answers ...string) (all []prerequisite) {
		for _, answer := range answers {
			all = append(all, prerequisite{Edge: "where", Predicate: answer})
		}
		return all
	}
	bonds := []bond{
		{name: "plain", variants: []prerequisite{{}}},
		{name: "`ToCreate` (missing)", variants: []prerequisite{{Edge: "toCreate"}}, missing: true},
		{name: "`ToCreate` (exists)", variants: []prerequisite{{Edge: "toCreate"}}},
		{name: "`Applied`", variants: []prerequisite{{Edge: "applied"}}},
		{name: "`Where` (met)", variants: where("met")},
		{name: "`Where` (unmet)", variants: where("unmet")},
		{name: "`Where` (unknown)", variants: where("unknown", "panic", "broken")},
		{name: "`Optional`", variants: []prerequisite{{Edge: "optional"}}},
		{name: "`Loose`", variants: []prerequisite{{Edge: "loose"}}},
		{name: "`Gone`", variants: []prerequisite{{Edge: "gone"}}},
	}
	gone, pending := actor{ReconcileWhen: "unmet"}, actor{ReconcileWhen: "unmet", OnDelete: "pending"}
	grid := grid{corner: "prerequisite"}
	for _, x := range []fate{
		{"`Ready`", []actor{{}, {ReadyWhen: "met"}}},
		{"`NotReady`", []actor{{ReadyWhen: "unmet"}}},
		{"`Waiting` or `Blocked`", []actor{{HoldUntil: "unmet"}, {OnReconcile: "notyet"}, {DependsOn: on("waiting")}}},
		{"`Failed`: an error", []actor{{OnReconcile: "error"}, {OnReconcile: "panic"}, {HoldUntil: "unknown"}}},
		{"`Failed`: its readiness", []actor{{ReadyWhen: "broken"}, {ReadyWhen: "unknown"}}},
		{"`Failed` in the plan", []actor{{Activate: "unknown"}, {ReconcileWhen: "unknown"}}},
		{"`Inactive`", []actor{{Activate: "unmet"}, {DependsOn: on("inactive")}}},
		{"unwanted and gone", []actor{gone, {DependsOn: on("unwanted")}}},
		{"unwanted, not gone yet", []actor{
			pending,
			{DependsOn: on("unwanted"), DeleteWhen: "unmet"},
			{ReconcileWhen: "unmet", OnDelete: "error"},
			{ReconcileWhen: "unmet", DeletedWhen: "unknown"},
		}},
	} {
		grid.row(x.name)
		for _, b := range bonds {
			var cells []string
			for _, as := range x.variants {
				as.Name = "prerequisite"
				for _, pair := range b.between(as, actor{}) {
					cells = append(cells, play(t, "reconcile", pair).cell("dependant"))
				}
			}
			grid.cell(t, b.name, cells)
		}
	}
	return grid.String()
}

// causesPicture is a run in which everything waits for one node.
func causesPicture(t *testing.T) string {
	t.Helper()
	b := workflow.NewBuilder[*primary]("site")
	name := func(r run) (string, error) { return r.Node(), nil }
	database := workflow.Value(b, "database", name).ReadyWhen("up", func(run, string) workflow.Verdict {
		return workflow.Unmet("Starting", "fewer than 3 replicas are available")
	})
	web := workflow.Value(b, "web", name).DependsOn(database)
	workflow.Value(b, "dns", name).DependsOn(web)
	workflow.Value(b, "cache", name).ReconcileWhen("cached", func(run) workflow.Verdict {
		return workflow.Unmet("NotCached", "spec.cache is false")
	})
	return "```\n" + reconcile(t, b).Picture().Tree(workflow.TreeOptions{}) + "```\n"
}

// kinds are the edges where only their kind matters.
var kinds = []bond{
	{name: "plain", variants: []prerequisite{{}}},
	{name: "`ToCreate`", variants: []prerequisite{{Edge: "toCreate"}}},
	{name: "`Applied`", variants: []prerequisite{{Edge: "applied"}}},
	{name: "`Where`", variants: []prerequisite{{Edge: "where", Predicate: "met"}}},
	{name: "`Optional`", variants: []prerequisite{{Edge: "optional"}}},
	{name: "`Loose`", variants: []prerequisite{{Edge: "loose"}}},
	{name: "`Gone`", variants: []prerequisite{{Edge: "gone"}}},
}

// deletionTable is about the removal of an unwanted prerequisite; through says that a computed value which has an
// Optional edge to it stands between it and the dependant.
func deletionTable(t *testing.T, through bool) string {
	t.Helper()
	missing := new(bool)
	x := actor{Name: "prerequisite", ReconcileWhen: "unmet"}
	grid := grid{corner: "dependant"}
	for _, d := range []fate{
		{"unwanted and gone", []actor{{ReconcileWhen: "unmet"}, {ReconcileWhen: "unmet", Exists: missing}, {DependsOn: on("unwanted")}}},
		{"unwanted, not gone yet", []actor{
			{ReconcileWhen: "unmet", OnDelete: "pending"},
			{ReconcileWhen: "unmet", OnDelete: "error"},
			{ReconcileWhen: "unmet", DeleteWhen: "unmet"},
			{ReconcileWhen: "unmet", DeletedWhen: "unknown"},
		}},
		{"wanted, reconciled", []actor{{}, {ReadyWhen: "unmet"}, {ReadyWhen: "broken"}}},
		{"wanted, not reconciled", []actor{
			{OnReconcile: "error"}, {OnReconcile: "notyet"}, {HoldUntil: "unmet"}, {HoldUntil: "unknown"}, {DependsOn: on("waiting")},
		}},
		{"wanted, missing", []actor{{Exists: missing}, {Exists: missing, OnReconcile: "error"}, {Exists: missing, HoldUntil: "unmet"}}},
		{"`Failed` in the plan", []actor{{Activate: "unknown"}, {ReconcileWhen: "unknown"}, {Activate: "unknown", Exists: missing}}},
		{"`Inactive`", []actor{{Activate: "unmet"}, {DependsOn: on("inactive")}}},
		{"manages nothing", []actor{
			{Manages: "nothing"}, {Manages: "nothing", ReconcileWhen: "unmet"}, {Manages: "nothing", Activate: "unknown"},
		}},
	} {
		grid.row(d.name)
		for _, b := range kinds {
			var cells []string
			for _, as := range d.variants {
				pairs := b.between(x, as)
				if through {
					value := actor{Name: "value", Manages: "nothing", DependsOn: []prerequisite{{Node: x.Name, Edge: "optional"}}}
					pairs = b.between(value, as, x)
				}
				for _, pair := range pairs {
					p := play(t, "reconcile", pair)
					if cell := p.removal(); d.name == "manages nothing" || strings.HasPrefix(d.name, "unwanted") == p.unwanted("dependant") {
						cells = append(cells, cell)
					} else {
						cells = append(cells, never)
					}
				}
			}
			grid.cell(t, b.name, cells)
		}
	}
	return grid.String()
}

func cleanupTable(t *testing.T) string {
	t.Helper()
	grid := grid{corner: "dependant"}
	for _, d := range []fate{
		{"gone", []actor{{}, {Exists: new(bool)}, {ReconcileWhen: "unmet"}, {HoldUntil: "unmet"}}},
		{"not gone yet", []actor{{OnDelete: "pending"}, {DeleteWhen: "unmet"}, {DeletedWhen: "unmet"}}},
		{"`Failed`", []actor{{OnDelete: "error"}, {DeleteWhen: "unknown"}, {DeletedWhen: "unknown"}, {Activate: "unknown"}}},
		{"`Inactive`", []actor{{Activate: "unmet"}}},
		{"manages nothing", []actor{{Manages: "nothing"}, {Manages: "nothing", Activate: "unknown"}}},
	} {
		grid.row(d.name)
		for _, b := range kinds {
			var cells []string
			for _, as := range d.variants {
				for _, pair := range b.between(actor{Name: "prerequisite"}, as) {
					cells = append(cells, play(t, "cleanup", pair).removal())
				}
			}
			grid.cell(t, b.name, cells)
		}
	}
	return grid.String()
}

func conditionsTable(t *testing.T) string {
	t.Helper()
	var out strings.Builder
	for i, c := range []struct{ title, kind string }{
		{"`ActivateWhen`", "activate"},
		{"`ReconcileWhen`", "reconcileWhen"},
		{"`HoldUntil`", "holdUntil"},
		{"`ReadyWhen`", "readyWhen"},
		{"`DeleteWhen`", "deleteWhen"},
		{"`DeletedWhen`", "deletedWhen"},
	} {
		grid := grid{corner: "condition", transposed: true}
		for _, mode := range []string{"wanted", "unwanted", "cleanup"} {
			grid.row(map[string]string{"wanted": "if it is wanted", "unwanted": "if it isn't", "cleanup": "in a cleanup"}[mode])
			for _, answer := range []string{"met", "unmet", "unknown", "panic", "broken"} {
				node := actor{Name: "node"}
				if mode == "unwanted" {
					node.DependsOn = on("unwanted")
				}
				*map[string]*string{
					"activate": &node.Activate, "reconcileWhen": &node.ReconcileWhen, "holdUntil": &node.HoldUntil,
					"readyWhen": &node.ReadyWhen, "deleteWhen": &node.DeleteWhen, "deletedWhen": &node.DeletedWhen,
				}[c.kind] = answer
				p := play(t, mode, []actor{node})
				cell := p.cell("node")
				if !slices.Contains(p.stage.evaluated[c.kind], "node") {
					cell = "*" + cell + "*"
				}
				grid.cell(t, c.title+" "+answer, []string{cell})
			}
		}
		table := grid.String()
		if i > 0 { // all of them are one table
			table = strings.SplitAfterN(table, "\n", 3)[2]
		}
		out.WriteString(strings.ReplaceAll(table, ", "+c.title, ","))
	}
	return out.String()
}

// between connects a dependant to a prerequisite, once over each variant of b. The rest comes before them.
func (b bond) between(x, d actor, rest ...actor) (pairs [][]actor) {
	for _, edge := range b.variants {
		d := d
		d.Name, edge.Node = "dependant", x.Name
		d.DependsOn = append([]prerequisite{edge}, d.DependsOn...)
		if b.missing {
			d.Exists = new(bool)
		}
		pairs = append(pairs, append(slices.Clone(rest), x, d))
	}
	return pairs
}

// played is a run, and what had been deleted when all that doesn't wait for the dependant had been done.
type played struct {
	stage  *stage
	result *workflow.Result
	before []string
}

// play runs nodes after others. The dependant's Do is kept from beginning until nothing else can go on.
func play(t *testing.T, mode string, nodes []actor) (p played) {
	t.Helper()
	s := scenario{Mode: mode, Nodes: append(slices.Clone(others), nodes...)}
	synctest.Test(t, func(t *testing.T) {
		p.stage = newStage("second", false)
		w, err := s.build(p.stage)
		if err != nil {
			t.Fatal(err)
		}
		door := doorkeeper{node: "dependant", open: make(chan struct{})}
		r, err := workflow.NewRunner(w, nil, workflow.Options{Observer: door})
		if err != nil {
			t.Fatal(err)
		}
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			if mode == "cleanup" {
				p.result = r.Cleanup(t.Context(), workflow.Subject[*primary]{})
			} else {
				p.result = r.Reconcile(t.Context(), workflow.Subject[*primary]{})
			}
		}()
		synctest.Wait()
		p.before = slices.Clone(p.stage.calls["deleted"])
		close(door.open)
		<-ended
	})
	return p
}

// doorkeeper is an Observer that lets a node begin once its door is open.
type doorkeeper struct {
	node string
	open chan struct{}
}

func (d doorkeeper) NodeStarted(ctx context.Context, at workflow.NodeID) context.Context {
	if at.Node == d.node {
		<-d.open
	}
	return ctx
}

func (doorkeeper) NodeEnded(context.Context, workflow.NodeID, workflow.Operation, error) {}

func (doorkeeper) Panicked(context.Context, workflow.NodeID, any, []byte) {}

// cell is the state of a node, and what was done to it.
func (p played) cell(node string) string {
	cell := string(p.result.Node(node).State)
	if slices.Contains(p.stage.calls["reconciled"], node) {
		cell += " †"
	}
	if slices.Contains(p.stage.calls["deleted"], node) {
		cell += " ‡"
	}
	return cell
}

// unwanted reports whether a node should not be there.
func (p played) unwanted(node string) bool {
	state := p.result.Node(node).State
	return state == workflow.Disabled || state == workflow.Deleting || slices.Contains(p.stage.calls["deleted"], node)
}

// removal is what happened to an unwanted prerequisite.
func (p played) removal() string {
	row := p.result.Node("prerequisite")
	switch {
	case slices.Contains(p.before, "prerequisite"):
		return "deleted"
	case slices.Contains(p.stage.calls["deleted"], "prerequisite"):
		return "deleted after it"
	case row.State == workflow.Deleting && row.BlockedBy != nil:
		return "held"
	default:
		return fmt.Sprintf("%s, blocked by %v", row.State, row.BlockedBy)
	}
}

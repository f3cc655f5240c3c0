// SPDX-License-Identifier: Apache-2.0

package workflow_test

import (
	"testing"

	"github.com/espalier-dev/espalier/workflow"
)

type repeatOf = workflow.Repeated[*primary, string, handle]

func keysAre(keys ...string) func(run) ([]string, error) {
	return func(run) ([]string, error) { return keys, nil }
}

// repeatedObject repeats one object, of the node n.
func repeatedObject(b *workflow.Builder[*primary], w *world, name string, keys ...string) *repeatOf {
	return workflow.Repeat(b, name, keysAre(keys...),
		func(b *workflow.Builder[*primary], _ workflow.Key[*primary, string]) handle {
			return workflow.Add(b, "n", object{world: w})
		})
}

// Each Repeat of a group counts its own instances.
func TestAtLeastInAGroup(t *testing.T) {
	w, b := newWorld(), workflow.NewBuilder[*primary]("quorums")
	g := b.Group("g")
	repeatedObject(g, w, "x", "a", "b").AtLeast(2)
	repeatedObject(g, w, "y", "c", "d").AtLeast(1)
	workflow.Add(b, "user", object{world: w}).DependsOn(g.All())
	runner := newRunner(t, b, workflow.Options{})
	w.broken["g-x-n[a]"], w.broken["g-y-n[c]"] = true, true
	expect(t, "x has one of two", states(runner.Reconcile(t.Context(), subject)), "g-x Ready, g-x-n[a] NotReady, "+
		"g-x-n[b] Ready, g-y Ready, g-y-n[c] NotReady, g-y-n[d] Ready, user Blocked by g-x g-x-n[a]")
	delete(w.broken, "g-x-n[a]")
	if row := runner.Reconcile(t.Context(), subject).Node("user"); row.State != workflow.Ready {
		t.Errorf("both have enough: got %+v", row)
	}
}

// A quorum of what isn't wanted is no reason to wait.
func TestAtLeastOfWhatIsNotWanted(t *testing.T) {
	for _, edge := range []string{"optional", "loose"} {
		w, b := newWorld(), workflow.NewBuilder[*primary]("quorums")
		x := repeatedObject(b, w, "x", "a").AtLeast(1).
			ReconcileWhen("wanted", func(run) workflow.Verdict { return workflow.Unmet("NotWanted", "nobody wants it") })
		workflow.Add(b, "user", object{world: w}).DependsOn(prerequisite{Edge: edge}.of(x))
		expect(t, edge, states(newRunner(t, b, workflow.Options{}).Reconcile(t.Context(), subject)), "x Disabled, user Ready")
	}
}

// A Repeat in an instance has a quorum there also if it has no keys.
func TestAtLeastWithoutKeys(t *testing.T) {
	w, b := newWorld(), workflow.NewBuilder[*primary]("quorums")
	keys := map[string][]string{"x": {"1", "2"}}
	disk := workflow.Repeat(b, "region", keysAre("x", "y"),
		func(b *workflow.Builder[*primary], region workflow.Key[*primary, string]) handle {
			return workflow.Repeat(b, "disk", func(r run) ([]string, error) { return keys[region.Of(r)], nil },
				func(b *workflow.Builder[*primary], _ workflow.Key[*primary, string]) handle {
					return workflow.Add(b, "n", object{world: w})
				}).AtLeast(1).Nodes
		}).Nodes
	workflow.Add(b, "user", object{world: w}).DependsOn(disk)
	row := newRunner(t, b, workflow.Options{}).Reconcile(t.Context(), subject).Node("user")
	if row.State != workflow.Blocked || row.BlockedBy[0] != "region-disk[y]" {
		t.Errorf("y has no disk: got %+v", row)
	}
}

// A quorum beside the node that asks for it, deeper within.
func TestAtLeastFromWithin(t *testing.T) {
	w, b := newWorld(), workflow.NewBuilder[*primary]("quorums")
	workflow.Repeat(b, "region", keysAre("x", "y"),
		func(b *workflow.Builder[*primary], _ workflow.Key[*primary, string]) any {
			cache := repeatedObject(b, w, "cache", "1", "2").AtLeast(1)
			repeatedObject(b, w, "disk", "3").Nodes.DependsOn(cache)
			return nil
		})
	w.broken["region-cache-n[x/1]"], w.broken["region-cache-n[y/1]"], w.broken["region-cache-n[y/2]"] = true, true, true
	result := newRunner(t, b, workflow.Options{}).Reconcile(t.Context(), subject)
	if row := result.Node("region-disk-n", "x", "3"); row.State != workflow.Ready {
		t.Errorf("x: got %+v", row)
	}
	if row := result.Node("region-disk-n", "y", "3"); row.State != workflow.Blocked {
		t.Errorf("y: got %+v", row)
	}
}

func TestPartsOfAnotherWorkflow(t *testing.T) {
	w, b, other := newWorld(), workflow.NewBuilder[*primary]("one"), workflow.NewBuilder[*primary]("other")
	workflow.Add(b, "first", object{world: w}).DependsOn(repeatedObject(other, w, "x", "a"))
	workflow.Add(b, "second", object{world: w}).DependsOn(workflow.Optional(other.Group("g").All()))
	_, err := b.Build()
	all := buildErrors(err)
	if len(all) != 2 || all[0].Mistake != workflow.UnknownPrerequisite || all[1].Node != "second" {
		t.Errorf("got %v", err)
	}
}

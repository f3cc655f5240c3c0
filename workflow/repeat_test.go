// SPDX-License-Identifier: Apache-2.0

package workflow_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/espalier-dev/espalier/workflow"
)

// shards is a graph with a part per key: config, then for each key a volume and a set on it, then a router for all.
type shards struct {
	world    *world
	keys     []string
	err      error
	image    string
	wanted   bool
	builder  *workflow.Builder[*primary]
	repeated *workflow.Repeated[*primary, string, shard]
	router   *workflow.Node[*primary, string]
}

type shard struct {
	volume, set *workflow.Node[*primary, string]
}

func newShards(keys ...string) *shards {
	s := &shards{world: newWorld(), keys: keys, image: "1", wanted: true, builder: workflow.NewBuilder[*primary]("shards")}
	config := workflow.Add(s.builder, "config", object{world: s.world})
	s.repeated = workflow.Repeat(s.builder, "shard", func(run) ([]string, error) { return s.keys, s.err },
		func(b *workflow.Builder[*primary], key workflow.Key[*primary, string]) (out shard) {
			out.volume = workflow.Add(b, "volume", object{world: s.world})
			out.set = workflow.Add(b, "set", object{world: s.world, want: func(r run) string {
				return key.Of(r) + " on " + out.volume.Get(r) + " runs " + s.image
			}}).DependsOn(out.volume)
			return out
		}).DependsOn(config).ReconcileWhen("wanted", func(run) workflow.Verdict {
		return workflow.If(s.wanted, "NotWanted", "nobody wants shards")
	})
	s.router = workflow.Add(s.builder, "router", object{world: s.world, want: func(r run) string {
		var all []string
		for _, k := range s.repeated.Get(r) {
			if set, ok := s.repeated.Nodes.set.Lookup(s.repeated.At(r, k)); ok {
				all = append(all, set)
			}
		}
		return strings.Join(all, "; ")
	}}).DependsOn(s.repeated)
	return s
}

func (s *shards) runner(t *testing.T) *workflow.Runner[*primary] {
	t.Helper()
	return newRunner(t, s.builder, workflow.Options{MaxConcurrent: 1, Jitter: func() float64 { return 0 }})
}

func expect(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s:\n got %s\nwant %s", what, got, want)
	}
}

var subject = workflow.Subject[*primary]{ID: "a"}

func TestRepeat(t *testing.T) { // R3 R6 R8 R13 R19
	s := newShards("b", "a")
	runner := s.runner(t)
	result := runner.Reconcile(t.Context(), subject)
	expect(t, "created", states(result), "config Ready, shard Ready, shard-volume[a] Ready, shard-volume[b] Ready, "+
		"shard-set[a] Ready, shard-set[b] Ready, router Ready")
	expect(t, "the router reads the instances, in the order of the keys", s.world.objects["router"],
		"b on shard-volume runs 1; a on shard-volume runs 1")
	s.world.took()
	if runner.Reconcile(t.Context(), subject); s.world.took() != nil {
		t.Error("it wrote though nothing had changed")
	}

	s.keys = []string{"b", "c"}
	result = runner.Reconcile(t.Context(), subject)
	expect(t, "a vanished", states(result), "config Ready, shard Ready, "+
		"shard-volume[a] Disabled, shard-volume[b] Ready, shard-volume[c] Ready, "+
		"shard-set[a] Disabled, shard-set[b] Ready, shard-set[c] Ready, router Ready")
	expect(t, "a goes in reverse, once the router does without it", strings.Join(s.world.took(), ", "),
		"create shard-volume[c], create shard-set[c], update router, delete shard-set[a], delete shard-volume[a]")
	expect(t, "the next run has no row of a", states(runner.Reconcile(t.Context(), subject)), "config Ready, shard Ready, "+
		"shard-volume[b] Ready, shard-volume[c] Ready, shard-set[b] Ready, shard-set[c] Ready, router Ready")

	s.wanted = false
	result = runner.Reconcile(t.Context(), subject)
	expect(t, "not wanted", states(result), "config Ready, shard Disabled, "+
		"shard-volume[b] Disabled, shard-volume[c] Disabled, shard-set[b] Disabled, shard-set[c] Disabled, router Disabled")
	if log := s.world.took(); log[0] != "delete router" || !slices.Equal(s.world.names(), []string{"config"}) {
		t.Errorf("torn down: %v, left are %v", log, s.world.names())
	}
}

func TestKeysThatCannotBeTold(t *testing.T) { // R4
	s := newShards("a", "b")
	runner := s.runner(t)
	runner.Reconcile(t.Context(), subject)
	s.world.took()
	for what, wrong := range map[string]func(){
		"an error":  func() { s.err = errors.New("the catalogue doesn't answer") },
		"twice":     func() { s.keys = []string{"a", "a"} },
		"empty":     func() { s.keys = []string{""} },
		"vanishing": func() { s.keys, s.err = nil, errors.New("the catalogue doesn't answer") },
	} {
		s.keys, s.err = []string{"a", "b"}, nil
		wrong()
		result := runner.Reconcile(t.Context(), subject)
		expect(t, what, states(result), "config Ready, shard Failed, shard-volume[a] Blocked by shard, "+
			"shard-volume[b] Blocked by shard, shard-set[a] Blocked by shard, shard-set[b] Blocked by shard, router Blocked by shard")
		if row := result.Node("shard"); row.Reason != "KeysUnknown" || s.world.took() != nil {
			t.Errorf("%s: got %+v", what, row)
		}
	}
}

func TestKeysThatCannotBeListed(t *testing.T) { // R4 R13
	s := newShards("a", "b")
	runner := s.runner(t)
	runner.Reconcile(t.Context(), subject)
	s.world.took()
	s.keys, s.world.silent["shard-set"] = []string{"a"}, true
	result := runner.Reconcile(t.Context(), subject)
	expect(t, "a set that may exist holds its volume", states(result), "config Ready, shard Ready, "+
		"shard-volume[a] Ready, shard-volume[b] Deleting by shard-set, shard-set[a] Ready, shard-set[b] Deleting by shard-set, "+
		"shard-set Failed, router Blocked by shard-set")
	cleanup := runner.Cleanup(t.Context(), subject)
	if cleanup.Complete() || cleanup.Node("config").State != workflow.Deleting || cleanup.Node("shard-set").State != workflow.Failed {
		t.Errorf("cleanup: %s", states(cleanup))
	}
	s.world.silent["shard-set"] = false
	runner.Reconcile(t.Context(), subject)
	s.world.sticky["shard-set[a]"] = true
	cleanup = runner.Cleanup(t.Context(), subject)
	expect(t, "one instance is stuck", states(cleanup), "config Deleting by shard-set[a], shard Deleted, "+
		"shard-volume[a] Deleting by shard-set[a], shard-set[a] Deleting, router Deleted")
}

func TestCleanupUsesTheKeysThatExist(t *testing.T) { // R16 R18
	s := newShards("a", "b")
	runner := s.runner(t)
	runner.Reconcile(t.Context(), subject)
	s.world.took()
	s.keys, s.err = []string{"c"}, errors.New("it must not be asked")
	result := runner.Cleanup(t.Context(), subject)
	expect(t, "cleanup", states(result), "config Deleted, shard Deleted, shard-volume[a] Deleted, shard-volume[b] Deleted, "+
		"shard-set[a] Deleted, shard-set[b] Deleted, router Deleted")
	if log := s.world.took(); !result.Complete() || len(s.world.names()) > 0 || log[0] != "delete router" || log[5] != "delete config" {
		t.Errorf("complete %v, left are %v, log %v", result.Complete(), s.world.names(), log)
	}
}

func TestInnerEdgesFromOutside(t *testing.T) { // R3 R6 R9
	s := newShards("a", "b")
	volumes := workflow.Value(s.builder, "volumes", func(r run) (string, error) {
		return s.repeated.Nodes.volume.Get(s.repeated.At(r, "a")), nil
	}).DependsOn(s.repeated.Nodes.volume)
	workflow.Value(s.builder, "blind", func(r run) (string, error) {
		return s.repeated.Nodes.volume.Get(r), nil
	}).DependsOn(volumes)
	runner := s.runner(t)
	s.world.broken["shard-volume[b]"] = true
	result := runner.Reconcile(t.Context(), subject)
	expect(t, "all instances count", states(result), "config Ready, shard Ready, shard-volume[a] Ready, shard-volume[b] NotReady, "+
		"shard-set[a] Ready, shard-set[b] Blocked by shard-volume[b], router Blocked by shard-volume[b], "+
		"volumes Blocked by shard-volume[b], blind Blocked by shard-volume[b]")
	delete(s.world.broken, "shard-volume[b]")
	row := runner.Reconcile(t.Context(), subject).Node("blind")
	if row.Reason != "UndeclaredRead" || !strings.Contains(row.Message, "use At") {
		t.Errorf("got %+v", row)
	}
	s.keys = nil
	if result = runner.Reconcile(t.Context(), subject); result.Node("router").State != workflow.Ready {
		t.Errorf("no instances are all that there are: %s", states(result))
	}
}

func TestAtLeast(t *testing.T) {
	s := newShards("a", "b", "c")
	s.repeated.AtLeast(2)
	runner := s.runner(t)
	s.world.broken["shard-set[a]"], s.world.broken["shard-volume[b]"] = true, true
	result := runner.Reconcile(t.Context(), subject)
	expect(t, "one of two", states(result), "config Ready, shard Ready, shard-volume[a] Ready, shard-volume[b] NotReady, "+
		"shard-volume[c] Ready, shard-set[a] NotReady, shard-set[b] Blocked by shard-volume[b], shard-set[c] Ready, "+
		"router Blocked by shard shard-volume[b] shard-set[a]")
	delete(s.world.broken, "shard-set[a]")
	result = runner.Reconcile(t.Context(), subject)
	if result.Node("router").State != workflow.Ready || result.Ready() {
		t.Errorf("two of three: %s", states(result))
	}
	s.keys = []string{"a"}
	if row := runner.Reconcile(t.Context(), subject).Node("router"); row.State != workflow.Blocked || row.BlockedBy[0] != "shard" {
		t.Errorf("there is only one: got %+v", row)
	}
}

func TestMaxUnavailable(t *testing.T) {
	for _, concurrent := range []int{1, 16} {
		s := newShards("a", "b", "c")
		s.repeated.MaxUnavailable(1)
		runner := newRunner(t, s.builder, workflow.Options{MaxConcurrent: concurrent})
		if runner.Reconcile(t.Context(), subject); len(s.world.took()) != 8 {
			t.Errorf("all are created at once: %v", s.world.names())
		}
		s.image, s.world.broken["shard-set[b]"] = "2", true
		result := runner.Reconcile(t.Context(), subject)
		expect(t, "what ails is changed first, and nothing beside it", strings.Join(s.world.took(), ", "), "update shard-set[b]")
		if row := result.Node("shard-set", "a"); row.State != workflow.Waiting || row.Reason != "MaxUnavailable" {
			t.Errorf("got %+v", row)
		}
		delete(s.world.broken, "shard-set[b]")
		result = runner.Reconcile(t.Context(), subject)
		expect(t, "one after the other, in one run", strings.Join(s.world.took(), ", "),
			"update shard-set[a], update shard-set[c], update router")
		if !result.Ready() {
			t.Errorf("got %s", states(result))
		}
		s.image, s.world.broken["shard-set[a]"] = "3", true
		s.world.objects["shard-set[a]"] = "a on shard-volume runs 3"
		result = runner.Reconcile(t.Context(), subject)
		if log := s.world.took(); log != nil || result.Node("shard-set", "c").Reason != "MaxUnavailable" {
			t.Errorf("one that isn't ready for another reason counts: %v, %s", log, states(result))
		}
	}
}

// An instance that was held back isn't free to change because of that.
func TestMaxUnavailableHoldsAllOfAnInstance(t *testing.T) {
	for _, concurrent := range []int{1, 16} {
		w, b, image := newWorld(), workflow.NewBuilder[*primary]("held"), "1"
		workflow.Repeat(b, "x", keysAre("a", "b", "c"), func(b *workflow.Builder[*primary], _ workflow.Key[*primary, string]) any {
			for _, name := range []string{"m", "n", "o"} {
				workflow.Add(b, name, object{world: w, want: func(run) string { return image }})
			}
			return workflow.Add(b, "ok", object{world: w})
		}).MaxUnavailable(1)
		runner := newRunner(t, b, workflow.Options{MaxConcurrent: concurrent})
		runner.Reconcile(t.Context(), subject)
		w.took()
		image, w.broken["x-ok[b]"] = "2", true
		w.objects["x-m[b]"], w.objects["x-n[b]"], w.objects["x-o[b]"] = image, image, image
		result := runner.Reconcile(t.Context(), subject)
		if log := w.took(); log != nil {
			t.Errorf("b isn't ready, and yet: %v, %s", log, states(result))
		}
	}
}

// What is created in every instance at once lets nothing change that stands.
func TestMaxUnavailableWhenANodeIsAdded(t *testing.T) {
	w, image := newWorld(), "1"
	runner := func(nodes ...string) *workflow.Runner[*primary] {
		b := workflow.NewBuilder[*primary]("added")
		workflow.Repeat(b, "x", keysAre("a", "b", "c"), func(b *workflow.Builder[*primary], _ workflow.Key[*primary, string]) any {
			set := workflow.Add(b, "set", object{world: w, want: func(run) string { return image }})
			for _, name := range nodes {
				set.DependsOn(workflow.Add(b, name, object{world: w}))
			}
			return nil
		}).MaxUnavailable(1)
		return newRunner(t, b, workflow.Options{})
	}
	runner().Reconcile(t.Context(), subject)
	w.took()
	image, w.broken["x-set[a]"] = "2", true
	result := runner("added").Reconcile(t.Context(), subject)
	if log := strings.Join(w.took(), ", "); strings.Count(log, "create") != 3 || strings.Count(log, "update") != 1 {
		t.Errorf("%s: %s", log, states(result))
	}
}

func TestInOrder(t *testing.T) {
	s := newShards("c", "a", "b")
	s.repeated.InOrder()
	runner := newRunner(t, s.builder, workflow.Options{})
	s.world.broken["shard-set[a]"] = true
	result := runner.Reconcile(t.Context(), subject)
	expect(t, "in the order of the keys", strings.Join(s.world.took(), ", "),
		"create config, create shard-volume[c], create shard-set[c], create shard-volume[a], create shard-set[a]")
	if row := result.Node("shard-volume", "b"); row.State != workflow.Waiting || row.Reason != "InOrder" ||
		row.Message != `it waits until key "a" is ready` {
		t.Errorf("got %+v", row)
	}
	delete(s.world.broken, "shard-set[a]")
	runner.Reconcile(t.Context(), subject)
	s.world.took()
	s.image, s.world.broken["shard-volume[c]"] = "2", true
	result = runner.Reconcile(t.Context(), subject)
	if log := s.world.took(); log != nil || result.Node("shard-volume", "b").State != workflow.Ready {
		t.Errorf("nothing changes behind one that isn't ready, and what has nothing to do goes on: %v, %s", log, states(result))
	}
	delete(s.world.broken, "shard-volume[c]")
	runner.Reconcile(t.Context(), subject)
	expect(t, "the change", strings.Join(s.world.took(), ", "),
		"update shard-set[c], update shard-set[a], update shard-set[b], update router")
}

func TestRepeatInARepeat(t *testing.T) {
	w, b := newWorld(), workflow.NewBuilder[*primary]("nested")
	keys := map[string][]string{"x": {"1", "2"}, "y": {"1"}, "z/~": {"1"}}
	regions := []string{"x", "y", "z/~"}
	var disk *workflow.Node[*primary, string]
	var disks *workflow.Repeated[*primary, string, *workflow.Node[*primary, string]]
	region := workflow.Repeat(b, "region", func(run) ([]string, error) { return regions, nil },
		func(b *workflow.Builder[*primary], region workflow.Key[*primary, string]) *workflow.Node[*primary, string] {
			network := workflow.Add(b, "network", object{world: w})
			disks = workflow.Repeat(b, "disk", func(r run) ([]string, error) { return keys[region.Of(r)], nil },
				func(b *workflow.Builder[*primary], key workflow.Key[*primary, string]) *workflow.Node[*primary, string] {
					disk = workflow.Add(b, "block", object{world: w, want: func(r run) string {
						return region.Of(r) + key.Of(r) + network.Get(r)
					}})
					return disk
				}).DependsOn(network)
			return workflow.Add(b, "index", object{world: w, want: func(r run) string {
				var all []string
				for _, k := range disks.Get(r) {
					all = append(all, disk.Get(disks.At(r, k)))
				}
				return strings.Join(all, " ")
			}}).DependsOn(disks)
		})
	workflow.Add(b, "atlas", object{world: w, want: func(r run) string {
		return disk.Get(disks.At(region.At(r, "x"), "2"))
	}}).DependsOn(disk)
	runner := newRunner(t, b, workflow.Options{MaxConcurrent: 1})
	result := runner.Reconcile(t.Context(), subject)
	expect(t, "created", states(result), "region Ready, region-network[x] Ready, region-network[y] Ready, region-network[z/~] Ready, "+
		"region-disk[x] Ready, region-disk[y] Ready, region-disk[z/~] Ready, "+
		"region-disk-block[x/1] Ready, region-disk-block[x/2] Ready, region-disk-block[y/1] Ready, region-disk-block[z~1~0/1] Ready, "+
		"region-index[x] Ready, region-index[y] Ready, region-index[z/~] Ready, atlas Ready")
	expect(t, "index of x", w.objects["region-index[x]"], "x1region-network x2region-network")
	expect(t, "atlas", w.objects["atlas"], "x2region-network")
	w.took()
	keys["x"], regions = []string{"2"}, []string{"x", "y"}
	result = runner.Reconcile(t.Context(), subject)
	if row := result.Node("region-disk-block", "z/~", "1"); row.State != workflow.Disabled {
		t.Errorf("got %+v", row)
	}
	expect(t, "a region and a disk vanish", strings.Join(w.names(), " "), "atlas region-disk-block[x/2] region-disk-block[y/1] "+
		"region-index[x] region-index[y] region-network[x] region-network[y]")
	if result = runner.Cleanup(t.Context(), subject); !result.Complete() || len(w.names()) > 0 {
		t.Errorf("cleanup: %s, left are %v", states(result), w.names())
	}
}

func TestRepeatedNodesMustListTheirKeys(t *testing.T) {
	b := workflow.NewBuilder[*primary]("unlisted")
	workflow.Repeat(b, "part", func(run) ([]string, error) { return nil, nil },
		func(b *workflow.Builder[*primary], _ workflow.Key[*primary, string]) any {
			return workflow.Add(b, "thing", thing{})
		})
	w, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	if _, err = workflow.NewRunner(w, nil, workflow.Options{}); err == nil || !strings.Contains(err.Error(), `node "part-thing": it is repeated`) {
		t.Errorf("got %v", err)
	}
}

func TestAllOfAGroup(t *testing.T) {
	w, b := newWorld(), workflow.NewBuilder[*primary]("all")
	group := b.Group("base")
	workflow.Add(group, "one", object{world: w})
	user := workflow.Add(b, "user", object{world: w}).DependsOn(group.All())
	workflow.Add(group.Group("more"), "two", object{world: w})
	workflow.Add(b, "optional", object{world: w}).DependsOn(workflow.Optional(group.All()), user)
	runner := newRunner(t, b, workflow.Options{})
	w.broken["base-more-two"] = true
	expect(t, "it needs all", states(runner.Reconcile(t.Context(), subject)),
		"base-one Ready, user Blocked by base-more-two, base-more-two NotReady, optional Blocked by base-more-two")
}

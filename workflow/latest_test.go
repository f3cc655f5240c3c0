// SPDX-License-Identifier: Apache-2.0

package workflow_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/espalier-dev/espalier/workflow"
)

// A value that exists only in cleanup comes between what it reads and what reads it.
func TestValueOnCleanup(t *testing.T) { // R16
	w, b := newWorld(), workflow.NewBuilder[*primary]("values")
	database := workflow.Add(b, "database", object{world: w})
	last := workflow.OnCleanup(b)
	dump := workflow.Add(last, "dump", object{world: w}).DependsOn(database)
	place := workflow.Value(last, "place", func(r run) (string, error) { return "at " + dump.Get(r), nil }).DependsOn(dump)
	workflow.Add(last, "upload", object{world: w, want: func(r run) string { return place.Get(r) }}).DependsOn(place)
	runner := newRunner(t, b, workflow.Options{MaxConcurrent: 1})
	expect(t, "reconcile", states(runner.Reconcile(t.Context(), subject)),
		"database Ready, dump Disabled, place Disabled, upload Disabled")
	w.sticky["database"] = true
	expect(t, "cleanup", states(runner.Cleanup(t.Context(), subject)),
		"database Deleting, dump Ready, place Ready, upload Ready")
	expect(t, "the upload", w.objects["upload"], "at dump")
	w.sticky = map[string]bool{"upload": true}
	result := runner.Cleanup(t.Context(), subject)
	expect(t, "the upload holds the dump", states(result),
		"database Deleted, dump Deleting by upload, place Deleted, upload Deleting")
	clear(w.sticky)
	if result = runner.Cleanup(t.Context(), subject); !result.Complete() || len(w.names()) > 0 {
		t.Errorf("at last: %s, left are %v", states(result), w.names())
	}
}

// What a value couldn't see is no absence for who reads it either.
func TestUnseenBehindAValueInCleanup(t *testing.T) { // R1 R4 R16
	w, b := newWorld(), workflow.NewBuilder[*primary]("unseen")
	database := workflow.Add(b, "database", thing{observe: func(run) (string, workflow.Presence, error) {
		return "", workflow.Indeterminate, errors.New("forbidden")
	}})
	size := workflow.Value(b, "size", func(r run) (string, error) {
		if _, ok := database.Lookup(r); !ok {
			return "nothing", nil
		}
		return "all", nil
	}).DependsOn(database)
	workflow.Add(workflow.OnCleanup(b), "dump", object{world: w, want: func(r run) string { return size.Get(r) }}).DependsOn(size)
	result := newRunner(t, b, workflow.Options{}).Cleanup(t.Context(), subject)
	if row := result.Node("dump"); row.State != workflow.Failed || len(w.names()) > 0 {
		t.Errorf("wrote %v: %s", w.objects, states(result))
	}
}

// What was dumped of a part that is repeated isn't dumped again when that has gone.
func TestOnCleanupOfARepeatRunsOnce(t *testing.T) { // R16 R21
	for stuck, restart := range map[string]bool{"config": true, "x-n[b]": false} {
		w, b := newWorld(), workflow.NewBuilder[*primary]("once")
		config := workflow.Add(b, "config", object{world: w})
		x := repeatedObject(b, w, "x", "a", "b").DependsOn(config)
		workflow.Add(workflow.OnCleanup(b), "dump", object{world: w, want: func(r run) string {
			var all []string
			for _, key := range []string{"a", "b"} {
				if _, ok := x.Nodes.Lookup(x.At(r, key)); ok {
					all = append(all, key)
				}
			}
			return strings.Join(all, " ")
		}}).DependsOn(x)
		runner := newRunner(t, b, workflow.Options{})
		runner.Reconcile(t.Context(), subject)
		w.sticky[stuck] = true
		for range 3 {
			runner.Cleanup(t.Context(), subject)
			expect(t, "the dump while "+stuck+" is stuck", w.objects["dump"], "a b")
			if restart {
				runner.Forget(subject.ID)
			}
		}
	}
}

// reading is an object whose Do reads a value.
type reading struct {
	object
	value *workflow.Computed[*primary, string]
}

func (o reading) Bind(any) (workflow.Resource[*primary, string], error) { return o, nil }

func (o reading) Prepare(r run) (workflow.Step[string], error) {
	step, err := o.object.Prepare(r)
	if do := step.Do; do != nil {
		step.Do = func(ctx context.Context) (workflow.Outcome[string], error) {
			if value := o.value.Get(r); value != "of database" {
				return workflow.Outcome[string]{}, fmt.Errorf("it read %q", value)
			}
			return do(ctx)
		}
	}
	return step, err
}

// A value is computed once for all that read it in a cleanup, wherever they do.
func TestValueInCleanupIsComputedOnce(t *testing.T) { // R5
	w, b := newWorld(), workflow.NewBuilder[*primary]("values")
	calls := 0
	database := workflow.Add(b, "database", object{world: w})
	value := workflow.Value(b, "value", func(r run) (string, error) { calls++; return "of " + database.Get(r), nil }).
		DependsOn(database)
	for _, name := range []string{"x", "y", "z"} {
		workflow.Add(workflow.OnCleanup(b), name, reading{object{world: w}, value}).DependsOn(value)
	}
	w.objects["database"] = "database"
	if result := newRunner(t, b, workflow.Options{}).Cleanup(t.Context(), subject); calls != 1 || !result.Complete() {
		t.Errorf("computed %d times: %s: %v", calls, states(result), result.Err())
	}
}

func TestOptionalBetweenNodesOfCleanup(t *testing.T) {
	for _, swapped := range []bool{false, true} {
		w, b := newWorld(), workflow.NewBuilder[*primary]("optional")
		database, last := workflow.Add(b, "database", object{world: w}), workflow.OnCleanup(b)
		names := []string{"one", "two"}
		if swapped {
			slices.Reverse(names)
		}
		nodes := map[string]handle{}
		for _, name := range names {
			nodes[name] = workflow.Add(last, name, object{world: w}).DependsOn(database)
		}
		nodes["two"].DependsOn(workflow.Optional(nodes["one"]))
		w.objects["database"], w.broken["one"] = "database", true
		runner := newRunner(t, b, workflow.Options{})
		runner.Cleanup(t.Context(), subject)
		expect(t, "two waits for one", strings.Join(w.took(), ", "), "create one")
		clear(w.broken)
		if result := runner.Cleanup(t.Context(), subject); !result.Complete() {
			t.Errorf("got %s", states(result))
		}
	}
}

// Dumps per key: the keys are asked in the cleanup; and one dump of all reads the keys that exist.
func TestRepeatAndCleanup(t *testing.T) { // R16
	w, b := newWorld(), workflow.NewBuilder[*primary]("dumps")
	shards := repeatedObject(b, w, "shard", "a", "b")
	dumps := repeatedObject(workflow.OnCleanup(b), w, "dump", "a", "b").DependsOn(shards)
	workflow.Add(workflow.OnCleanup(b), "index", object{world: w, want: func(r run) string {
		return strings.Join(shards.Get(r), " ")
	}}).DependsOn(shards, dumps)
	runner := newRunner(t, b, workflow.Options{MaxConcurrent: 1})
	expect(t, "reconcile", states(runner.Reconcile(t.Context(), subject)),
		"shard Ready, shard-n[a] Ready, shard-n[b] Ready, dump Disabled, index Disabled")
	w.took()
	w.broken["dump-n[b]"] = true
	expect(t, "cleanup", states(runner.Cleanup(t.Context(), subject)), "shard Deleted, "+
		"shard-n[a] Deleting by dump-n[b], shard-n[b] Deleting by dump-n[b], dump Deleted, dump-n[a] Ready, dump-n[b] NotReady, "+
		"index Blocked by dump-n[b]")
	clear(w.broken)
	w.sticky["index"] = true
	runner.Cleanup(t.Context(), subject)
	expect(t, "the index", w.objects["index"], "a b")
	clear(w.sticky)
	runner.Forget(subject.ID)
	if result := runner.Cleanup(t.Context(), subject); !result.Complete() || len(w.names()) > 0 {
		t.Errorf("at last: %s, left are %v", states(result), w.names())
	}
}

// What is remembered of instances that are gone is forgotten, however long their primary lives.
func TestMemoryOfInstances(t *testing.T) { // R21
	b := workflow.NewBuilder[*primary]("memory")
	key := 0
	workflow.Repeat(b, "x", func(run) ([]string, error) { return []string{strconv.Itoa(key)}, nil },
		func(b *workflow.Builder[*primary], _ workflow.Key[*primary, string]) any {
			return workflow.Add(b, "n", failingToRead{})
		})
	runner := newRunner(t, b, workflow.Options{MaxConcurrent: 1})
	run := func(times int) {
		for range times {
			key++
			runner.Reconcile(t.Context(), subject)
		}
	}
	run(100)
	before := heap()
	run(5000)
	if grown := heap() - before; grown > 200_000 {
		t.Errorf("it grew by %d bytes", grown)
	}
	runtime.KeepAlive(runner)
}

type failingToRead struct{}

func (o failingToRead) Bind(any) (workflow.Resource[*primary, string], error) { return o, nil }

func (failingToRead) Observe(run) (string, workflow.Presence, error) { return "", workflow.Absent, nil }

func (failingToRead) Prepare(run) (workflow.Step[string], error) {
	return workflow.Step[string]{}, errors.New("refused")
}

func (failingToRead) Delete(run) (workflow.Removal, error) { return workflow.Removal{Gone: true}, nil }

func (failingToRead) Keys(run) ([]string, error) { return nil, nil }

// Keys of a cleanup that can't be told hold what an instance would need.
func TestKeysOfACleanupThatCannotBeTold(t *testing.T) { // R4 R16 R18
	for what, declare := range map[string]func(*repeatOf){
		"keys": func(*repeatOf) {},
		"precondition": func(x *repeatOf) {
			x.ReconcileWhen("asked", func(run) workflow.Verdict { return workflow.Unknown(errors.New("nobody knows")) })
		},
		"activation": func(x *repeatOf) {
			x.ActivateWhen("asked", func(run) workflow.Verdict { return workflow.Unknown(errors.New("nobody knows")) })
		},
	} {
		w, b := newWorld(), workflow.NewBuilder[*primary]("dumps")
		database := workflow.Add(b, "database", object{world: w})
		dumps := workflow.Repeat(workflow.OnCleanup(b), "dump", func(run) ([]string, error) {
			if what == "keys" {
				return nil, errors.New("nobody knows")
			}
			return []string{"a"}, nil
		}, func(b *workflow.Builder[*primary], _ workflow.Key[*primary, string]) handle {
			return workflow.Add(b, "n", object{world: w})
		}).DependsOn(database)
		declare(dumps)
		w.objects["database"] = "database"
		result := newRunner(t, b, workflow.Options{}).Cleanup(t.Context(), subject)
		expect(t, what, states(result), "database Deleting by dump, dump Failed")
		if result.Complete() || w.took() != nil {
			t.Errorf("%s: it deleted what may be dumped", what)
		}
	}
}

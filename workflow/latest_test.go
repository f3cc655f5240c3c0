// SPDX-License-Identifier: Apache-2.0

package workflow_test

import (
	"errors"
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

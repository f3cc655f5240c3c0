// SPDX-License-Identifier: Apache-2.0

package workflow_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/espalier-dev/espalier/workflow"
)

// world is a small outside: objects by the name of their node and their key, and a log of what was done to them.
type world struct {
	mutex   sync.Mutex
	objects map[string]string
	broken  map[string]bool // not ready, whatever is written
	silent  map[string]bool // by node: its keys can't be listed
	sticky  map[string]bool // a deletion begins, but doesn't end
	log     []string
}

func newWorld() *world {
	return &world{
		objects: map[string]string{}, broken: map[string]bool{}, silent: map[string]bool{}, sticky: map[string]bool{},
	}
}

func (w *world) locked(do func()) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	do()
}

// took returns what was done since it was last asked.
func (w *world) took() (log []string) {
	w.locked(func() { log, w.log = w.log, nil })
	return log
}

func (w *world) names() (names []string) {
	w.locked(func() { names = slices.Sorted(maps.Keys(w.objects)) })
	return names
}

// object is the kind of a node that manages one object of the world, per key.
type object struct {
	world *world
	want  func(r run) string // default: the name
}

func at(r run) string {
	if r.Key() == "" {
		return r.Node()
	}
	return r.Node() + "[" + r.Key() + "]"
}

func (o object) Bind(any) (workflow.Resource[*primary, string], error) { return o, nil }

func (o object) Observe(r run) (value string, found workflow.Presence, err error) {
	found = workflow.Absent
	o.world.locked(func() {
		if have, ok := o.world.objects[at(r)]; ok {
			value, found = have, workflow.Present
		}
	})
	return value, found, nil
}

func (o object) ready(name string) workflow.Verdict {
	return workflow.If(!o.world.broken[name], "Broken", "it is broken")
}

func (o object) Prepare(r run) (workflow.Step[string], error) {
	name, want := at(r), r.Node()
	if o.want != nil {
		want = o.want(r)
	}
	have, found, err := o.Observe(r)
	step := workflow.Step[string]{Intent: uint64(len(want)) + 1, Value: have}
	o.world.locked(func() { step.Ready = o.ready(name) })
	if err != nil || found == workflow.Present && have == want {
		return step, err
	}
	step.Do = func(context.Context) (out workflow.Outcome[string], err error) {
		out = workflow.Outcome[string]{Value: want, Operation: workflow.Update}
		if found == workflow.Absent {
			out.Operation = workflow.Create
		}
		o.world.locked(func() {
			o.world.objects[name], out.Ready = want, o.ready(name)
			o.world.log = append(o.world.log, strings.ToLower(string(out.Operation))+" "+name)
		})
		return out, nil
	}
	return step, nil
}

func (o object) Delete(r run) (workflow.Removal, error) {
	name := at(r)
	if _, found, _ := o.Observe(r); found == workflow.Absent {
		return workflow.Removal{Gone: true}, nil
	}
	return workflow.Removal{Do: func(context.Context) (workflow.Removal, error) {
		removal := workflow.Removal{Gone: true, Operation: workflow.Delete}
		o.world.locked(func() {
			o.world.log = append(o.world.log, "delete "+name)
			if removal.Gone = !o.world.sticky[name]; removal.Gone {
				delete(o.world.objects, name)
			}
		})
		return removal, nil
	}}, nil
}

func (o object) Keys(r run) (keys []string, err error) {
	o.world.locked(func() {
		if o.world.silent[r.Node()] {
			err = errors.New("the world doesn't answer")
		}
		for name := range o.world.objects {
			if key, ok := strings.CutPrefix(name, r.Node()+"["); ok {
				keys = append(keys, strings.TrimSuffix(key, "]"))
			}
		}
	})
	return keys, err
}

// DryRun is part of what a Resource may be.
func (o object) DryRun(_ context.Context, r run) (workflow.Preview, error) {
	have, found, _ := o.Observe(r)
	want := r.Node()
	if o.want != nil {
		want = o.want(r)
	}
	if found == workflow.Absent {
		return workflow.Preview{Operation: workflow.Create, Diff: "+ " + want}, nil
	}
	return workflow.Preview{Operation: workflow.Update, Diff: fmt.Sprintf("- %s\n+ %s", have, want)}, nil
}

// states are those of all rows, by name and key.
func states(result *workflow.Result) string {
	var rows []string
	for _, n := range result.Nodes {
		name := n.Name
		if n.Key != "" {
			name += "[" + n.Key + "]"
		}
		if n.BlockedBy != nil {
			rows = append(rows, fmt.Sprintf("%s %s by %s", name, n.State, strings.Join(n.BlockedBy, " ")))
			continue
		}
		rows = append(rows, fmt.Sprintf("%s %s", name, n.State))
	}
	return strings.Join(rows, ", ")
}

// SPDX-License-Identifier: Apache-2.0

package workflow_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/espalier-dev/espalier/workflow"
)

// watched is an object whose writes and deletions are told beforehand.
type watched struct {
	object
	tell func(did, name string) error
}

func (o watched) Bind(any) (workflow.Resource[*primary, string], error) { return o, nil }

func (o watched) Prepare(r run) (workflow.Step[string], error) {
	step, err := o.object.Prepare(r)
	if do := step.Do; do != nil {
		name := at(r)
		step.Do = func(ctx context.Context) (out workflow.Outcome[string], err error) {
			if err = o.tell("write", name); err == nil {
				out, err = do(ctx)
			}
			return out, err
		}
	}
	return step, err
}

func (o watched) Delete(r run) (workflow.Removal, error) {
	removal, err := o.object.Delete(r)
	if do := removal.Do; do != nil {
		name := at(r)
		removal.Do = func(ctx context.Context) (out workflow.Removal, err error) {
			if err = o.tell("delete", name); err == nil {
				out, err = do(ctx)
			}
			return out, err
		}
	}
	return removal, err
}

// fleet is a random graph with a part that is repeated under random bounds, and that changes.
type fleet struct {
	*world
	seed    uint64
	image   string
	keys    []string
	nodes   []string // of each instance
	most    int
	inOrder bool

	mutex   sync.Mutex
	wrong   []string
	calls   int
	crashAt int
	crash   func()
	ready   map[string]bool // instances that were ready before the run
	tearing bool
}

func newFleet(seed uint64) *fleet {
	d := dice(seed)
	return &fleet{
		world: newWorld(), seed: seed, image: "1", keys: []string{"d", "a", "c", "b", "e"}[:1+d.roll(5)],
		nodes: []string{"m", "n", "o"}[:1+d.roll(3)], most: d.roll(3), inOrder: d.roll(3) == 0,
	}
}

func (f *fleet) runner(t *testing.T) *workflow.Runner[*primary] {
	t.Helper()
	d := dice(f.seed + 1)
	b := workflow.NewBuilder[*primary]("fleet")
	kind := func(want func(run) string) watched { return watched{object{f.world, want}, f.tell} }
	config := workflow.Add(b, "config", kind(nil))
	x := workflow.Repeat(b, "x", keysAre(f.keys...),
		func(b *workflow.Builder[*primary], _ workflow.Key[*primary, string]) (all []handle) {
			for _, name := range f.nodes {
				h := workflow.Add(b, name, kind(func(run) string { return f.image }))
				if d.roll(2) == 0 && all != nil {
					h.DependsOn(all[d.roll(len(all))])
				}
				all = append(all, h)
			}
			workflow.Add(workflow.OnCleanup(b), "dump", kind(nil)).DependsOn(all[0])
			return all
		}).MaxUnavailable(f.most).AtLeast(d.roll(len(f.keys) + 1)).DependsOn(config)
	if f.inOrder {
		x.InOrder()
	}
	user := workflow.Add(b, "user", kind(nil)).DependsOn(x)
	workflow.Add(workflow.OnCleanup(b), "farewell", kind(nil)).DependsOn(config)
	workflow.Add(b, "after", kind(nil)).DependsOn(workflow.Optional(x), workflow.Loose(user))
	return newRunner(t, b, workflow.Options{MaxConcurrent: []int{1, 2, 16}[f.seed%3]})
}

// tell checks what must hold before something is done, and is where the process crashes.
func (f *fleet) tell(did, name string) error {
	if f.seed%4 == 0 {
		time.Sleep(time.Duration(f.seed%7) * 10 * time.Microsecond)
	}
	f.mutex.Lock()
	defer f.mutex.Unlock()
	f.locked(func() { f.check(did, name) })
	if f.calls++; f.calls == f.crashAt {
		f.crash()
		if f.seed%2 == 0 {
			return errors.New("crashed before it was done")
		}
	}
	return nil
}

func (f *fleet) check(did, name string) {
	node, key, _ := strings.Cut(strings.TrimSuffix(strings.TrimPrefix(name, "x-"), "]"), "[")
	_, stands := f.objects[name]
	switch {
	case did == "delete" && f.tearing && slices.Contains(f.nodes[:1], node):
		if _, ok := f.objects["x-dump["+key+"]"]; !ok {
			f.complain("%s is deleted, but not dumped", name)
		}
	case did == "delete" && name == "config":
		if _, ok := f.objects["farewell"]; !ok {
			f.complain("config is deleted without a farewell")
		}
	case did == "write" && node == "dump":
		if _, ok := f.objects["x-"+f.nodes[0]+"["+key+"]"]; !ok {
			f.complain("%s comes after what it dumps has gone", name)
		}
	case did == "write" && slices.Contains(f.nodes, node):
		if f.inOrder && !f.tearing {
			for _, before := range f.keys[:slices.Index(f.keys, key)] {
				if !f.isUpToDate(before) || f.ails(before) {
					f.complain("%s is written before %s is ready", name, before)
				}
			}
		}
		if f.most > 0 && stands && f.ready[key] {
			others := 0
			for _, other := range f.keys {
				if other != key && f.ready[other] && f.hasBegun(other) && (!f.isUpToDate(other) || f.ails(other)) {
					others++
				}
			}
			if others >= f.most {
				f.complain("%s is changed while %d others are", name, others)
			}
		}
	}
}

func (f *fleet) complain(format string, args ...any) {
	f.wrong = append(f.wrong, fmt.Sprintf(format, args...))
}

func (f *fleet) of(key string) (names []string) {
	for _, node := range f.nodes {
		names = append(names, "x-"+node+"["+key+"]")
	}
	return names
}

func (f *fleet) isUpToDate(key string) bool {
	return !slices.ContainsFunc(f.of(key), func(name string) bool { return f.objects[name] != f.image })
}

func (f *fleet) hasBegun(key string) bool {
	return slices.ContainsFunc(f.of(key), func(name string) bool { return f.objects[name] == f.image })
}

func (f *fleet) ails(key string) bool {
	return slices.ContainsFunc(f.of(key), func(name string) bool { return f.broken[name] })
}

// run runs once in a process of its own, which crashes at the given call, if there is that one.
func (f *fleet) run(t *testing.T, cleanup bool, crashAt int) *workflow.Result {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	f.mutex.Lock()
	f.calls, f.crashAt, f.crash, f.tearing, f.ready = 0, crashAt, cancel, cleanup, map[string]bool{}
	f.locked(func() {
		for _, key := range f.keys {
			whole := !slices.ContainsFunc(f.of(key), func(name string) bool { return f.objects[name] == "" })
			f.ready[key] = whole && !f.ails(key) && (f.isUpToDate(key) || !f.hasBegun(key))
		}
	})
	f.mutex.Unlock()
	if cleanup {
		return f.runner(t).Cleanup(ctx, subject)
	}
	return f.runner(t).Reconcile(ctx, subject)
}

// ends runs until nothing is left to do, in a new process each time.
func (f *fleet) ends(t *testing.T, cleanup bool) (log []string) {
	t.Helper()
	for range 12 {
		result := f.run(t, cleanup, 0)
		log = append(log, f.took()...)
		if cleanup && result.Complete() || !cleanup && result.Ready() {
			return log
		}
	}
	f.complain("it doesn't converge: %s", states(f.run(t, cleanup, 0)))
	return log
}

// Under whatever bounds, and whatever breaks on the way: bounds hold, nothing is deleted before it was dumped, and after
// a crash at any call everything comes to its end, with nothing done twice.
func TestInvariants(t *testing.T) { // R11 R13 R16 R21
	for seed := range uint64(25 * *times) {
		for crashAt := range 8 {
			f := newFleet(seed)
			d := dice(seed + 2 + uint64(crashAt)*1000)
			f.run(t, false, crashAt)
			f.ends(t, false)
			f.image = "2"
			for range d.roll(3) {
				f.broken["x-"+d.pick(f.nodes...)+"["+d.pick(f.keys...)+"]"] = true
			}
			f.run(t, false, crashAt)
			clear(f.broken)
			first := f.took()
			log := append(first, f.ends(t, false)...)
			f.run(t, true, crashAt)
			first = f.took()
			down := append(first, f.ends(t, true)...)
			for _, twice := range [][]string{log, down} {
				slices.Sort(twice)
				if len(slices.Compact(slices.Clone(twice))) < len(twice) {
					f.complain("done twice: %v", twice)
				}
			}
			if len(f.objects) > 0 {
				f.complain("left are %v", f.names())
			}
			if f.wrong != nil {
				t.Fatalf("seed %d, crash at %d: %d keys, nodes %v, at most %d, in order %v:\n  %s", seed, crashAt,
					len(f.keys), f.nodes, f.most, f.inOrder, strings.Join(f.wrong, "\n  "))
			}
		}
	}
}

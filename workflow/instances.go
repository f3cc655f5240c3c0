// SPDX-License-Identifier: Apache-2.0

package workflow

import (
	"errors"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
)

// instance is one of the instances of a Repeat in one run.
type instance struct {
	number   int32     // in its Repeat
	outer    *instance // of the Repeat around
	path     []string
	key      string // the path, joined
	turn     int    // among the wanted keys, in the order in which they were given
	vanished bool   // its key isn't wanted any more
	unlisted bool   // it stands for those of one node that couldn't be listed
	rollout
}

// at returns the instance around, or itself, that stands in so many Repeats.
func (i *instance) at(depth int) *instance {
	for i != nil && len(i.path) > depth {
		i = i.outer
	}
	return i
}

// instances are those of one Repeat in one run: by the instance around, then by key.
type instances struct {
	all   []*instance
	first []int32 // of an instance around, by its number; one more at the end
	byKey map[string]int32
}

// lister is what a Resource of a repeated node must be that manages something.
type lister[P any] interface {
	// Keys returns the keys of the instances that exist, each as [Run.Key] gives it, in any order. An error means that
	// they aren't known: nothing is deleted then that such an instance may hold.
	Keys(r *Run[P]) ([]string, error)
}

// open finds the instances of a Repeat whose head has been classified: those that are wanted, and those that exist.
func (x *execution[P]) open(part *repeat[P]) {
	found := &x.layout.instances[part.index]
	found.first, found.byKey = []int32{0}, map[string]int32{}
	around := []*instance{nil}
	if part.outer != nil {
		around = x.layout.instances[part.outer.index].all
	}
	for i, outer := range around {
		x.openOne(part, x.layout.base[part.head.index]+int32(i), outer, found)
		found.first = append(found.first, int32(len(found.all)))
	}
}

func (x *execution[P]) openOne(part *repeat[P], head int32, outer *instance, found *instances) {
	if x.marks[head].planned == inactive {
		return
	}
	turns, asked := x.askKeys(part, head)
	keys := map[string]bool{}
	for key := range x.existing(part)[outer.name()] {
		keys[key] = true
	}
	if x.cleanup && !asked {
		x.cells[head].value = part.typed(slices.Sorted(maps.Keys(keys)))
	}
	for key := range turns {
		keys[key] = true
	}
	first := len(found.all)
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		turn, wants := turns[key]
		i := &instance{number: int32(len(found.all)), outer: outer, turn: turn, vanished: asked && !wants}
		if outer != nil {
			i.path = append(i.path, outer.path...)
		}
		i.path = append(i.path, key)
		i.key = joined(i.path)
		found.byKey[i.key] = i.number
		found.all = append(found.all, i)
	}
	if part.rollsOut() && asked {
		part.newWave(found.all[first:])
	}
}

// name is the joined path of an instance; "" outside.
func (i *instance) name() string {
	if i == nil {
		return ""
	}
	return i.key
}

// asksKeys reports whether a Repeat is to be asked for its keys: one that is wanted, or that exists only in this
// cleanup and isn't unwanted by its own precondition.
func (x *execution[P]) asksKeys(part *repeat[P], head int32) bool {
	if !x.cleanup {
		return x.marks[head].planned == wanted
	}
	at, m := &x.layout.vertices[head], &x.marks[head]
	if !part.head.cleanup || m.planned != unwanted {
		return false
	}
	if !at.traits.has(decides) {
		return true
	}
	p := x.precondition(head, at)
	if p == undecided {
		m.planned = undecided
	}
	return p == wanted
}

// askKeys asks for the keys that are wanted, and fails the head if they can't be told.
func (x *execution[P]) askKeys(part *repeat[P], head int32) (turns map[string]int, ok bool) {
	if !x.asksKeys(part, head) {
		return nil, false
	}
	var value any
	keys, err := inline(x, head, func(r *Run[P]) (keys []string, err error) {
		value, keys, err = part.keys(r)
		return keys, err
	})
	turns = make(map[string]int, len(keys))
	var wrong []error
	for turn, key := range keys {
		if _, twice := turns[key]; twice {
			wrong = append(wrong, fmt.Errorf("key %q is given twice", key))
		}
		if key == "" {
			wrong = append(wrong, errors.New("a key is empty"))
		}
		turns[key] = turn
	}
	if err = errors.Join(append(wrong, err)...); err != nil {
		x.marks[head].planned = undecided
		x.unanswered(head, "KeysUnknown", Unknown(fmt.Errorf("asking for the keys: %w", err)))
		return nil, false
	}
	x.cells[head].value = value
	return turns, true
}

// askedKeys returns what the keys function of the Repeat that begins with r's vertex has answered.
func (r *Run[P]) askedKeys() (value any, presence Presence, err error) {
	switch {
	case r.vertex == nobody:
		return nil, Absent, nil
	case r.x.marks[r.vertex].planned == undecided:
		return nil, Indeterminate, r.x.row(r.vertex).Err
	case r.x.cells[r.vertex].value == nil:
		return nil, Absent, nil
	default:
		return r.x.cells[r.vertex].value, Present, nil
	}
}

// existing returns the keys of instances of which anything exists, by the instance around.
func (x *execution[P]) existing(part *repeat[P]) map[string]map[string]bool {
	if known, ok := x.layout.existing[part]; ok {
		return known
	}
	keys := map[string]map[string]bool{}
	for _, n := range part.nodes {
		for _, path := range x.listed(n) {
			around := joined(path[:part.depth-1])
			if keys[around] == nil {
				keys[around] = map[string]bool{}
			}
			keys[around][path[part.depth-1]] = true
		}
	}
	x.layout.existing[part] = keys
	return keys
}

// listed asks a node's Resource once per run for the instances that exist. If they can't be told, an instance without a
// key stands for them, which fails in the plan and so holds what they may hold.
func (x *execution[P]) listed(n *node[P]) [][]string {
	if !n.manages || n.cleanup && !x.cleanup {
		return nil
	}
	if paths, ok := x.layout.listed[n]; ok {
		return paths
	}
	names, err := x.list(n)
	paths := make([][]string, 0, len(names))
	for _, name := range names {
		path, ok := split(name, n.depth())
		if !ok {
			err = errors.Join(err, fmt.Errorf("key %q isn't one that Run.Key has given", name))
			continue
		}
		paths = append(paths, path)
	}
	x.layout.listed[n] = paths
	if err != nil {
		x.layout.unlisted[n] = fmt.Errorf("listing the keys that exist: %w", err)
	}
	return paths
}

func (x *execution[P]) list(n *node[P]) (keys []string, err error) {
	view := &Run[P]{x: x, vertex: nobody, moved: &elsewhere[P]{node: n}}
	defer func() {
		if p := recover(); p != nil {
			err = x.panicked(n, p, debug.Stack())
		}
	}()
	return x.runner.resources[n.index].unwrap().(lister[P]).Keys(view)
}

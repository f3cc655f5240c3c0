// SPDX-License-Identifier: Apache-2.0

package workflow_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/espalier-dev/espalier/workflow"
)

// expansion makes every instance of every node a node of its own, for the reference.
type expansion struct {
	*troupe
	*reference
	paths map[*template][][]string // of the instances that are known by now
	names map[*template][]string   // of these, and of the one that stands for those that can't be listed
}

const unlisted = "?"

// expand plans the nodes one after the other, since the plan of a head decides about the instances behind it.
func (p *troupe) expand() *reference {
	x := &expansion{
		troupe: p, paths: map[*template][][]string{}, names: map[*template][]string{},
		reference: &reference{scenario: scenario{Mode: p.mode}, nodes: map[string]*expected{}, left: map[string]bool{}},
	}
	listed := map[*template]bool{}
	for _, n := range p.nodes {
		paths := [][]string{nil}
		if n.within != nil {
			paths = x.paths[n.within]
		}
		for _, path := range paths {
			x.cast(n, path, false)
		}
		if listed[n] && p.isSilent(n) {
			x.cast(n, []string{unlisted}, true)
		}
		if n.isHead {
			x.open(n, paths, listed)
		}
	}
	for _, n := range p.declared() {
		x.order = append(x.order, x.names[n]...)
		for _, name := range x.names[n] {
			x.Nodes = append(x.Nodes, x.reference.nodes[name].actor)
		}
	}
	x.run()
	return x.reference
}

// declared are all nodes in the order of their declaration.
func (p *troupe) declared() (all []*template) {
	var add func(of []*template)
	add = func(of []*template) {
		for _, n := range of {
			all = append(all, n)
			add(n.inner)
		}
	}
	add(p.declare)
	return all
}

// cast plans one instance of n.
func (x *expansion) cast(n *template, path []string, isUnlisted bool) {
	e := &expected{actor: x.behaviour(n, path)}
	if isUnlisted {
		e.actor = actor{Name: n.Name, Manages: n.Manages, Exists: new(false)}
		e.unlisted = true
	}
	if head, last := n.within, len(path)-1; head != nil && !isUnlisted {
		wanted, err := x.keys(head, path[:last])
		asked := slices.Contains(x.reference.nodes[nameOf(head, path[:last])].asked, "keys") && !wrongKeys(wanted, err)
		e.vanished = asked && !slices.Contains(wanted, path[last])
	}
	for _, edge := range n.edges {
		e.DependsOn = append(e.DependsOn, x.join(n, path, edge)...)
	}
	x.left[e.Name] = x.isCollected(n)
	x.reference.nodes[e.Name] = e
	x.names[n] = append(x.names[n], e.Name)
	x.plan(e)
}

// open makes the instances of a Repeat: those that are wanted, and those of which anything exists.
func (x *expansion) open(head *template, outer [][]string, listed map[*template]bool) {
	for _, path := range outer {
		at := x.reference.nodes[nameOf(head, path)]
		if at.plan == "inactive" {
			continue
		}
		all := map[string]bool{}
		if at.plan == "wanted" && x.mode == "reconcile" {
			at.asked = append(at.asked, "keys")
			keys, err := x.keys(head, path)
			if wrongKeys(keys, err) {
				at.plan, at.state, keys = "failed", workflow.Failed, nil
			}
			for _, key := range keys {
				all[key] = true
			}
		}
		for _, n := range x.troupe.nodes {
			if !n.standsIn(head) || n.Manages != "" {
				continue
			}
			listed[n] = true
			paths, _ := x.listed(n)
			for _, other := range paths {
				if slices.Equal(other[:len(path)], path) {
					all[other[len(path)]] = true
				}
			}
		}
		for _, key := range universe {
			if all[key] {
				x.paths[head] = append(x.paths[head], append(slices.Clone(path), key))
			}
		}
	}
}

// join is what one edge of one instance is: to the same instance of what is repeated with it, and to all of what isn't.
func (x *expansion) join(n *template, path []string, e templateEdge) (all []prerequisite) {
	all = x.joinOne(n, path, e.to, prerequisite{Edge: e.kind})
	if !e.all {
		return all
	}
	for _, to := range x.troupe.nodes {
		if to.standsIn(e.to) {
			kind := e.kind
			if kind == "where" {
				kind = ""
			}
			all = append(all, x.joinOne(n, path, to, prerequisite{Edge: kind})...)
		}
	}
	return all
}

func (x *expansion) joinOne(n *template, path []string, to *template, p prerequisite) (all []prerequisite) {
	common, isUnlisted := 0, len(path) > 0 && path[0] == unlisted
	for _, head := range to.around() {
		if n.standsIn(head) {
			common++
		}
	}
	p.bundled = to.depth() > common || isUnlisted && common > 0
	add := func(other []string) {
		p.Node = nameOf(to, other)
		if p.Edge == "where" {
			if p.Predicate = x.predicate(n, to, other); to.isHead {
				p.Predicate = x.predicate(n, to, nil) // all that it sees is keys
			}
		}
		all = append(all, p)
	}
	paths := [][]string{nil}
	if to.within != nil {
		paths = x.paths[to.within]
	}
	for _, other := range paths {
		if isUnlisted || slices.Equal(other[:common], path[:common]) {
			add(other)
		}
	}
	if last := len(x.names[to]) - 1; to.depth() > common && last >= 0 && x.names[to][last] == to.Name && to.within != nil {
		add(nil)
	}
	for _, head := range to.around() {
		if n.standsIn(head) {
			continue
		}
		kind := p.Edge
		if kind == "where" {
			kind = ""
		}
		all = append(all, x.joinOne(n, path, head, prerequisite{Edge: kind, implied: true})...)
	}
	return all
}

// isCollected is R17 of the graph as it is declared: whatever instances there are.
func (p *troupe) isCollected(n *template) bool {
	part := []*template{n}
	for i := 0; i < len(part); i++ {
		for _, other := range p.nodes {
			if (p.connects(part[i], other) || p.connects(other, part[i])) && !slices.Contains(part, other) {
				part = append(part, other)
			}
		}
	}
	return n.Manages == "" && !slices.ContainsFunc(part, func(m *template) bool {
		return m.Manages == "" && (!m.Collectable || m.DeleteWhen != "" || m.DeletedWhen != "")
	})
}

func (p *troupe) connects(from, to *template) bool {
	return slices.ContainsFunc(from.edges, func(e templateEdge) bool {
		if e.kind == "gone" {
			return false
		}
		return e.to == to || e.all && to.standsIn(e.to) || e.to.standsIn(to) && !from.standsIn(to)
	})
}

// perform runs it once and returns everything that isn't as expected.
func (p *troupe) perform(t *testing.T, o workflow.Options) []string {
	t.Helper()
	on := newStage([]string{"first", "second", "mixed"}[len(p.nodes)%3], len(p.nodes)%7 == 0)
	w, err := p.build(on)
	if err != nil {
		return p.refused(err)
	}
	runner, err := workflow.NewRunner(w, nil, o)
	if err != nil {
		t.Fatal(err)
	}
	s := scenario{Mode: p.mode}
	expected := p.expand()
	s.Nodes, s.Expect = expected.Nodes, expected.expectation()
	var result *workflow.Result
	if p.mode == "cleanup" {
		result = runner.Cleanup(t.Context(), subject)
	} else {
		result = runner.Reconcile(t.Context(), subject)
	}
	if len(result.Nodes) != len(s.Nodes) {
		return []string{fmt.Sprintf("rows: got %s\n want %v", states(result), s.Expect.States)}
	}
	for i := range result.Nodes {
		row := &result.Nodes[i]
		row.Name, row.Key = strings.TrimSuffix(row.Name+"["+row.Key+"]", "[]"), ""
		if strings.Contains(row.Message, "please report") {
			return []string{row.Name + ": " + row.Message}
		}
	}
	return s.check(on, result)
}

// refused may only be for an edge that would wait for itself.
func (p *troupe) refused(err error) (wrong []string) {
	for _, mistake := range buildErrors(err) {
		if mistake.Mistake != workflow.GoneCycle {
			wrong = append(wrong, err.Error())
		}
	}
	return wrong
}

// Random graphs with parts that are repeated, also within each other and side by side, come to what they come to with
// every instance as a node of its own.
//
// R3 R4 R6 R9 R13 R15 R16 R17 R19.
func TestRandomRepeats(t *testing.T) {
	for range *times {
		rapid.Check(t, func(rt *rapid.T) {
			for range 10 {
				p := randomTroupe(rapid.Uint64().Draw(rt, "seed"))
				options := workflow.Options{MaxConcurrent: []int{0, 1, 2}[p.seed%3]}
				if wrong := p.perform(t, options); wrong != nil {
					rt.Fatalf("%s\n  graph (%s, seed %d):\n%s", strings.Join(wrong, "\n  "), p.mode, p.seed, p.graph())
				}
			}
		})
	}
}

// SPDX-License-Identifier: Apache-2.0

package workflow_test

import (
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"

	"github.com/espalier-dev/espalier/workflow"
)

// troupe is a random graph in which parts are repeated, and how every instance of every node in it behaves.
type troupe struct {
	seed    uint64
	mode    string
	nodes   []*template // in an order in which each comes after what it depends on
	parts   []*template // the heads of Repeats
	declare []*template // the nodes outside of Repeats and the outermost heads, as they are declared
	known   map[string]actor
}

// template is a node that has one instance per path of keys of the Repeats around it.
type template struct {
	actor            // what it has conditions for, and what goes for all instances
	within *template // the head of the innermost Repeat around it
	inner  []*template
	isHead bool
	edges  []templateEdge
	handle workflow.Handle[*primary]
}

type templateEdge struct {
	to   *template
	kind string
	all  bool // to the Repeat that begins with it, not to the head alone
	head bool // that of the Repeat around
}

func (n *template) around() (heads []*template) {
	for at := n.within; at != nil; at = at.within {
		heads = append(heads, at)
	}
	return heads
}

func (n *template) depth() int { return len(n.around()) }

func (n *template) standsIn(head *template) bool { return slices.Contains(n.around(), head) }

// hash is a number that depends on the play and a name only.
func (p *troupe) hash(of ...string) uint64 {
	h := fnv.New64a()
	_, _ = fmt.Fprint(h, p.seed, strings.Join(of, "|"))
	return h.Sum64()
}

func (p *troupe) dice(of ...string) *diceState { return dice(p.hash(of...)) }

func nameOf(n *template, path []string) string {
	if len(path) == 0 {
		return n.Name
	}
	return n.Name + "[" + strings.Join(path, "/") + "]"
}

// behaviour is that of one instance: it answers each question that its template asks.
func (p *troupe) behaviour(n *template, path []string) actor {
	name := nameOf(n, path)
	if known, ok := p.known[name]; ok {
		return known
	}
	a := actor{Name: name}
	d := p.dice("behaviour", name)
	d.behave(&a)
	if a.Exists == nil {
		a.Exists = new(d.roll(3) > 0)
	}
	for _, field := range []struct{ asked, answer *string }{
		{&n.Activate, &a.Activate},
		{&n.ReconcileWhen, &a.ReconcileWhen},
		{&n.HoldUntil, &a.HoldUntil},
		{&n.ReadyWhen, &a.ReadyWhen},
		{&n.DeleteWhen, &a.DeleteWhen},
		{&n.DeletedWhen, &a.DeletedWhen},
	} {
		switch {
		case *field.asked == "":
			*field.answer = ""
		case *field.answer == "":
			*field.answer = "met"
		}
	}
	a.Manages, a.Collectable, a.head = n.Manages, n.Collectable, n.isHead
	if n.Manages != "" {
		a.Exists, a.DeleteWhen, a.DeletedWhen, a.OnDelete = nil, "", "", ""
	}
	if n.isHead {
		a.OnReconcile = ""
	}
	p.known[name] = a
	return a
}

var universe = []string{"a", "b", "c", "d"}

// keys are those that are wanted of the Repeat that begins with n, in one instance of the Repeat around.
func (p *troupe) keys(n *template, path []string) (keys []string, err error) {
	d := p.dice("keys", nameOf(n, path))
	for range d.roll(5) {
		if key := d.pick(universe...); !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	switch d.roll(12) {
	case 0:
		err = errors.New("the keys aren't known")
	case 1:
		keys = append(keys, "")
	case 2:
		keys = append(keys, "a", "a")
	}
	return keys, err
}

func wrongKeys(keys []string, err error) bool {
	sorted := slices.Sorted(slices.Values(keys))
	return err != nil || slices.Contains(keys, "") || len(slices.Compact(sorted)) < len(keys)
}

// listed are the paths of the instances of n that exist, as far as they can be told.
func (p *troupe) listed(n *template) (paths [][]string, silent bool) {
	silent = p.isSilent(n)
	add := func(path []string) {
		a := p.behaviour(n, path)
		if *a.Exists && (!silent || p.hash("listed", a.Name)%2 == 0) {
			paths = append(paths, path)
		}
	}
	for _, first := range universe {
		if n.depth() == 1 {
			add([]string{first})
			continue
		}
		for _, second := range universe {
			add([]string{first, second})
		}
	}
	return paths, silent
}

func randomTroupe(seed uint64) *troupe {
	p := &troupe{seed: seed, known: map[string]actor{}}
	d := dice(seed)
	p.mode = d.pick("reconcile", "reconcile", "reconcile", "cleanup")
	n := 2 + d.roll(8)
	nodes := make([]*template, n)
	for i := range nodes {
		nodes[i] = &template{actor: actor{Name: fmt.Sprintf("n%d", i)}}
		d.behave(&nodes[i].actor)
	}
	outer := d.repeat(nodes, "x", nil)
	if second := d.roll(3); second == 1 {
		d.repeat(nodes, "y", outer)
	} else if second == 2 {
		d.repeat(nodes, "z", nil)
	}
	for _, n := range nodes {
		for _, head := range slices.Backward(n.around()) {
			if !slices.Contains(p.parts, head) {
				p.nodes, p.parts = append(p.nodes, head), append(p.parts, head)
			}
		}
		p.nodes = append(p.nodes, n)
	}
	p.connect(d)
	for _, n := range p.nodes {
		if n.within == nil {
			p.declare = append(p.declare, n)
		}
	}
	for i := range p.declare {
		k := d.roll(i + 1)
		p.declare[i], p.declare[k] = p.declare[k], p.declare[i]
	}
	for _, n := range p.nodes {
		prefix := ""
		for _, head := range n.around() { // the outermost comes last
			prefix = head.short() + "-" + prefix
		}
		n.Name = prefix + n.Name
	}
	return p
}

func (n *template) short() string { return n.Name[strings.LastIndexByte(n.Name, '-')+1:] }

// repeat puts some nodes, one near the other, in a Repeat of their own.
func (d *diceState) repeat(nodes []*template, name string, within *template) *template {
	head := &template{actor: actor{Name: name}, within: within, isHead: true}
	d.behave(&head.actor)
	head.Manages, head.DeleteWhen, head.DeletedWhen, head.Collectable = "nothing", "", "", false
	if d.roll(2) == 0 {
		head.Activate, head.HoldUntil, head.ReadyWhen = "", "", ""
	}
	from := d.roll(len(nodes))
	for _, n := range nodes[from:min(from+1+d.roll(5), len(nodes))] {
		if n.within == within && d.roll(4) > 0 {
			n.within = head
		}
	}
	return head
}

func (p *troupe) connect(d *diceState) {
	density := 1 + d.roll(3)
	for i, n := range p.nodes {
		if n.within != nil {
			n.edges = append(n.edges, templateEdge{to: n.within, head: true})
			n.within.inner = append(n.within.inner, n)
		}
		for range d.roll(density + 1) {
			if i == 0 {
				continue
			}
			to := p.nodes[d.roll(i)]
			edge := templateEdge{to: to, kind: d.edge(n.actor, to.Name).Edge}
			if to.isHead {
				if n.standsIn(to) || slices.ContainsFunc(p.nodes[i:], func(m *template) bool { return m.standsIn(to) }) {
					continue // the edge would be to a node that comes later
				}
				edge.all = true
			}
			n.edges = append(n.edges, edge)
		}
	}
}

// build makes a workflow of it.
func (p *troupe) build(on *stage) (*workflow.Workflow[*primary], error) {
	b := workflow.NewBuilder[*primary]("play")
	for _, n := range p.declare {
		p.add(b, n, on)
	}
	for _, n := range p.nodes {
		for _, e := range n.edges {
			if !e.head {
				n.handle.(interface {
					depend(workflow.Edge[*primary])
				}).depend(p.edge(n, e))
			}
		}
	}
	return b.Build()
}

type (
	single   struct{ handle }
	repeated struct {
		*workflow.Repeated[*primary, string, any]
	}
)

func (h single) depend(on workflow.Edge[*primary])   { h.DependsOn(on) }
func (h repeated) depend(on workflow.Edge[*primary]) { h.DependsOn(on) }

func (p *troupe) add(b *workflow.Builder[*primary], n *template, on *stage) {
	if n.isHead {
		h := workflow.Repeat(b, n.short(), func(r run) ([]string, error) {
			on.asked("keys", at(r))
			return p.keys(n, pathOf(r.Key()))
		}, func(b *workflow.Builder[*primary], _ workflow.Key[*primary, string]) any {
			for _, inner := range n.inner {
				p.add(b, inner, on)
			}
			return nil
		})
		n.handle = repeated{h}
		refine(p, n, &h.Base, on)
		return
	}
	kind := extra{play: p, node: n, on: on, index: slices.Index(p.nodes, n)}
	var h handle
	if n.Manages == "" {
		h = workflow.Add(b, n.short(), kind)
	} else {
		h = workflow.Add(b, n.short(), idleExtra{kind})
	}
	n.handle = single{h}
	refine(p, n, &h.Base, on)
}

func pathOf(key string) []string {
	if key == "" {
		return nil
	}
	return strings.Split(key, "/")
}

func refine[V, S any](p *troupe, n *template, h *workflow.Base[*primary, V, S], on *stage) {
	conditions := map[string]struct {
		asked  string
		answer func(a *actor) string
		add    func(string, func(run) workflow.Verdict) S
	}{
		"activate":      {n.Activate, func(a *actor) string { return a.Activate }, h.ActivateWhen},
		"reconcileWhen": {n.ReconcileWhen, func(a *actor) string { return a.ReconcileWhen }, h.ReconcileWhen},
		"holdUntil":     {n.HoldUntil, func(a *actor) string { return a.HoldUntil }, h.HoldUntil},
		"deleteWhen":    {n.DeleteWhen, func(a *actor) string { return a.DeleteWhen }, h.DeleteWhen},
		"deletedWhen":   {n.DeletedWhen, func(a *actor) string { return a.DeletedWhen }, h.DeletedWhen},
		"readyWhen": {n.ReadyWhen, func(a *actor) string { return a.ReadyWhen }, func(name string, holds func(run) workflow.Verdict) S {
			return h.ReadyWhen(name, func(r run, _ V) workflow.Verdict { return holds(r) })
		}},
	}
	for kind, c := range conditions {
		if c.asked == "" {
			continue
		}
		c.add(kind, func(r run) workflow.Verdict {
			on.asked(kind, at(r))
			a := p.behaviour(n, pathOf(r.Key()))
			return verdictOf(c.answer(&a))
		})
	}
}

func (p *troupe) predicate(from, to *template, path []string) string {
	return p.dice("predicate", from.Name, nameOf(to, path)).pick("met", "met", "met", "unmet", "unknown", "panic")
}

func (p *troupe) edge(n *template, e templateEdge) workflow.Edge[*primary] {
	if e.kind != "where" {
		return prerequisite{Edge: e.kind}.of(e.to.handle)
	}
	if h, ok := e.to.handle.(repeated); ok {
		return workflow.Where(h.Repeated, func([]string) workflow.Verdict {
			return verdictOf(p.predicate(n, e.to, nil))
		})
	}
	return workflow.Where(e.to.handle.(single).handle, func(name string) workflow.Verdict {
		_, key, _ := strings.Cut(strings.TrimSuffix(name, "]"), "[")
		return verdictOf(p.predicate(n, e.to, pathOf(key)))
	})
}

// extra is the kind of a node in a play: each of its instances is a player.
type extra struct {
	play  *troupe
	node  *template
	on    *stage
	index int
}

type idleExtra struct{ extra }

func (idleExtra) ManagesNothing() {}

func (k extra) Bind(any) (workflow.Resource[*primary, string], error) { return k, nil }

func (k extra) Collectable() bool { return k.node.Collectable }

func (k extra) player(r run) player {
	return player{actor: k.play.behaviour(k.node, pathOf(r.Key())), stage: k.on, index: k.index}
}

func (k extra) Observe(r run) (string, workflow.Presence, error) { return k.player(r).Observe(r) }

func (k extra) Prepare(r run) (workflow.Step[string], error) { return k.player(r).Prepare(r) }

func (k extra) Delete(r run) (workflow.Removal, error) { return k.player(r).Delete(r) }

func (k extra) Keys(run) (keys []string, err error) {
	paths, silent := k.play.listed(k.node)
	for _, path := range paths {
		keys = append(keys, strings.Join(path, "/"))
	}
	if silent {
		err = errors.New("the rest can't be told")
	}
	return keys, err
}

// isSilent reports whether the keys of a node can't all be listed.
func (p *troupe) isSilent(n *template) bool { return p.dice("listed", n.Name).roll(6) == 0 }

func (p *troupe) graph() string {
	var out strings.Builder
	for _, n := range p.declared() {
		fmt.Fprintf(&out, "  %s on", n.brief())
		for _, e := range n.edges {
			fmt.Fprintf(&out, " %s(%s all=%v)", e.kind, e.to.Name, e.all)
		}
		fmt.Fprintln(&out)
	}
	for _, a := range p.expand().Nodes {
		fmt.Fprintf(&out, "    %s %+v\n", a.brief(), a.DependsOn)
	}
	return out.String()
}

// brief leaves out what isn't set.
func (a actor) brief() string {
	a.DependsOn = nil
	exists := a.Manages == "" && (a.Exists == nil || *a.Exists)
	a.Exists = nil
	out := fmt.Sprintf("%+v exists=%v", a, exists)
	for field := range strings.FieldsSeq(out) {
		if strings.HasSuffix(field, ":") || strings.HasSuffix(field, ":[]") || strings.Contains(field, "false") || strings.Contains(field, "nil") {
			out = strings.Replace(out, " "+field, "", 1)
		}
	}
	return out
}

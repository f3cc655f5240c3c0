// SPDX-License-Identifier: Apache-2.0

package workflow

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
)

// Builder collects the nodes of a workflow. It isn't safe for concurrent use. Mistakes are kept until Build.
type Builder[P any] struct {
	graph *graph[P]
	scope *scope[P]
	// What every node declared through this builder gets before its own.
	edges      []edge[P]
	conditions []condition[P]
	atCleanup  bool
}

// graph is what all builders of one workflow share.
type graph[P any] struct {
	name   string
	nodes  []*node[P]
	checks []func(r *Run[P]) error
	shared int // how many conditions groups have declared
	built  bool
	late   []string // nodes that were refined after that

	repeats []*repeat[P]
	types   map[reflect.Type]int // of what the nodes yield, numbered
	yields  []int                // by number: so many nodes yield it
}

// slabOf counts a node that yields a value of type t, and returns the number of that type.
func (g *graph[P]) slabOf(t reflect.Type) int {
	number, ok := g.types[t]
	if !ok {
		number = len(g.yields)
		g.types[t] = number
		g.yields = append(g.yields, 0)
	}
	g.yields[number]++
	return number
}

// NewBuilder starts a workflow. Its name becomes part of labels and metrics: a DNS label, kept stable.
func NewBuilder[P any](name string) *Builder[P] {
	return &Builder[P]{graph: &graph[P]{name: name, types: map[reflect.Type]int{}}, scope: &scope[P]{}}
}

// DependsOn adds prerequisites to every node that is declared through b from now on.
func (b *Builder[P]) DependsOn(prerequisites ...Edge[P]) *Builder[P] {
	for _, x := range prerequisites {
		b.edges = append(slices.Clip(b.edges), edgeTo(x))
	}
	return b
}

// ReconcileWhen adds a precondition to every node that is declared through b from now on. It is asked once per run,
// and once per instance of what a Repeat repeats, however many nodes inherit it: as the first of them, so that it may
// look up only what that one depends on.
func (b *Builder[P]) ReconcileWhen(name string, holds func(r *Run[P]) Verdict) *Builder[P] {
	b.graph.shared++
	c := condition[P]{name: name, holds: holds, shared: b.graph.shared, depth: b.scope.depth()}
	b.conditions = append(slices.Clip(b.conditions), c)
	return b
}

// Build checks everything and returns the workflow, or every mistake, joined. A Builder builds once.
func (b *Builder[P]) Build() (*Workflow[P], error) {
	g := b.graph
	if g.built {
		return nil, fmt.Errorf("building workflow %q: built already: a workflow may have any number of Runners", g.name)
	}
	for _, n := range g.nodes {
		n.expand(g.nodes)
	}
	links := nodeLinks(g.nodes)
	mistakes := append(g.check(), g.checkCycles(links)...)
	if err := errors.Join(mistakes...); err != nil {
		return nil, fmt.Errorf("building workflow %q: %w", g.name, err)
	}
	g.built = true
	return newWorkflow(g, links), nil
}

// Workflow is a checked, immutable graph. It may be bound to any number of environments and is safe for concurrent use.
type Workflow[P any] struct {
	name    string
	nodes   []*node[P]
	checks  []func(r *Run[P]) error
	shared  int
	repeats []*repeat[P]
	yields  []int
	graph   *graph[P]  // only to tell what came too late
	order   []int32    // of the nodes: topological
	links   links      // of the nodes
	static  *layout[P] // nil if there are Repeats: then a run makes its own
	picture *Picture
}

func newWorkflow[P any](g *graph[P], l links) *Workflow[P] {
	w := &Workflow[P]{
		name: g.name, nodes: g.nodes, checks: g.checks, shared: g.shared, repeats: g.repeats, yields: g.yields, graph: g,
		order: l.topological(), links: l, picture: newPicture(g),
	}
	for _, n := range w.nodes {
		n.settle()
		for _, around := range n.repeats() {
			around.nodes = append(around.nodes, n)
		}
	}
	if len(w.repeats) == 0 {
		w.static = staticLayout(w.nodes, l)
	}
	return w
}

// Name returns the name given to [NewBuilder].
func (w *Workflow[P]) Name() string { return w.name }

// Kinds returns the kind of every node, in declaration order, for who has to know them before the workflow is bound.
func (w *Workflow[P]) Kinds() []any {
	kinds := make([]any, len(w.nodes))
	for i, n := range w.nodes {
		kinds[i] = n.kind
	}
	return kinds
}

// Primary returns the zero value of the primary's type, for who has to know that.
func (w *Workflow[P]) Primary() any {
	var none P
	return none
}

// Picture returns the graph as a picture without states.
func (w *Workflow[P]) Picture() *Picture { return w.picture }

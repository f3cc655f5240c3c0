// SPDX-License-Identifier: Apache-2.0

package workflow

import (
	"errors"
	"fmt"
	"slices"
)

// Builder collects the nodes of a workflow. It isn't safe for concurrent use. Mistakes are kept until Build.
type Builder[P any] struct {
	graph *graph[P]
	// What every node declared through this builder gets before its own.
	prefix     string
	edges      []edge[P]
	conditions []condition[P]
}

// graph is what all builders of one workflow share.
type graph[P any] struct {
	name   string
	nodes  []*node[P]
	checks []func(r *Run[P]) error
	shared int // how many conditions groups have declared
	built  bool
}

// NewBuilder starts a workflow. Its name becomes part of labels and metrics: a DNS label, kept stable.
func NewBuilder[P any](name string) *Builder[P] {
	return &Builder[P]{graph: &graph[P]{name: name}}
}

// Group returns a builder of the same workflow whose node names begin with name and a hyphen, and whose nodes inherit
// its prerequisites and preconditions. A reusable part of a graph is a function from a Builder to a struct of handles.
func (b *Builder[P]) Group(name string) *Builder[P] {
	return &Builder[P]{graph: b.graph, prefix: b.prefix + name + "-", edges: b.edges, conditions: b.conditions}
}

// DependsOn adds prerequisites to every node that is declared through b from now on.
func (b *Builder[P]) DependsOn(prerequisites ...Edge[P]) *Builder[P] {
	for _, x := range prerequisites {
		b.edges = append(slices.Clip(b.edges), x.edge())
	}
	return b
}

// ReconcileWhen adds a precondition to every node that is declared through b from now on. It is asked once per run,
// however many nodes inherit it.
func (b *Builder[P]) ReconcileWhen(name string, holds func(r *Run[P]) Verdict) *Builder[P] {
	b.graph.shared++
	c := condition[P]{name: name, holds: holds, shared: b.graph.shared}
	b.conditions = append(slices.Clip(b.conditions), c)
	return b
}

// Build checks everything and returns the workflow, or every mistake, joined. A Builder builds once.
func (b *Builder[P]) Build() (*Workflow[P], error) {
	g := b.graph
	if g.built {
		return nil, fmt.Errorf("building workflow %q: built already: a workflow may have any number of Runners", g.name)
	}
	links := newLinks(g.nodes)
	mistakes := append(g.check(), g.checkCycles(links)...)
	if err := errors.Join(mistakes...); err != nil {
		return nil, fmt.Errorf("building workflow %q: %w", g.name, err)
	}
	g.built = true
	return &Workflow[P]{
		name: g.name, nodes: g.nodes, checks: g.checks, shared: g.shared,
		layout: newLayout(g.nodes, links), picture: newPicture(g.name, g.nodes),
	}, nil
}

// Workflow is a checked, immutable graph. It may be bound to any number of environments and is safe for concurrent use.
type Workflow[P any] struct {
	name    string
	nodes   []*node[P]
	checks  []func(r *Run[P]) error
	shared  int
	layout  *layout[P]
	picture *Picture
}

// Name returns the name given to [NewBuilder].
func (w *Workflow[P]) Name() string { return w.name }

// Picture returns the graph as a picture without states.
func (w *Workflow[P]) Picture() *Picture { return w.picture }

// SPDX-License-Identifier: Apache-2.0

package workflow

import (
	"context"
	"fmt"
)

// Run is one node's view of one run. It is valid until the node's function returns, or its Do.
type Run[P any] struct {
	x      *execution[P]
	vertex int32
	// executing says that the node's edges are satisfied: values of other nodes are what this run has made. Otherwise
	// they are what is observed in the world.
	executing bool
	unseen    error // why an observation couldn't be made
}

// nobody is the vertex of a Run that isn't a node's: of the summary at the end, which may read all nodes.
const nobody = -1

// Primary returns the primary. Nodes share it and must not change it.
func (r *Run[P]) Primary() P { return r.x.subject.Primary }

// ID returns the identity of the primary, as given by [Subject].
func (r *Run[P]) ID() string { return r.x.subject.ID }

// Node returns the name of the node that is asked; "" in a summary.
func (r *Run[P]) Node() string {
	if r.vertex == nobody {
		return ""
	}
	return r.x.node(r.vertex).name
}

// Workflow returns the name of the workflow.
func (r *Run[P]) Workflow() string { return r.x.runner.workflow.name }

// Context returns the context of the run. What a Do does ends with the one that it is given.
func (r *Run[P]) Context() context.Context { return r.x.ctx }

// Env returns the environment that the workflow was bound to.
func (r *Run[P]) Env() any { return r.x.runner.env }

// Deleting reports whether this run is a cleanup.
func (r *Run[P]) Deleting() bool { return r.x.cleanup }

// Collected reports whether the removal of the node's dependent is left to the garbage collector.
func (r *Run[P]) Collected() bool {
	return r.vertex != nobody && r.x.runner.collected[r.x.node(r.vertex).index]
}

// Own returns what the node that is asked manages, as observed, and whether it is there: for a desired state that goes
// on from what there is.
func Own[V, P any](r *Run[P]) (V, bool) {
	if r.vertex == nobody {
		var none V
		return none, false
	}
	value, ok := r.observe(r.vertex)
	v, fits := value.(V)
	return v, ok && fits
}

// value returns what n yields, if r's node may read it that way.
func (r *Run[P]) value(n *node[P], how read) (any, bool) {
	if r.vertex != nobody {
		own := r.x.node(r.vertex)
		switch {
		case !own.reads(n, how):
			panic(misuse(fmt.Sprintf(
				"node %q reads node %q with %s, but it isn't a %s of it: see DependsOn", own.name, n.name, how, how.of())))
		case how == get && !r.executing:
			panic(misuse(fmt.Sprintf(
				"node %q reads node %q with Get before it may have been reconciled: use Lookup", own.name, n.name)))
		}
	}
	if !r.executing {
		return r.observe(n.index)
	}
	c := &r.x.cells[n.index]
	return c.value, c.applied
}

// read is a way to read another node.
type read string

const (
	get    read = "Get"
	lookup read = "Lookup"
)

func (how read) of() string {
	if how == get {
		return "required prerequisite"
	}
	return "prerequisite"
}

func (r *Run[P]) observe(vertex int32) (any, bool) {
	view := Run[P]{x: r.x, vertex: vertex}
	value, presence, err := r.x.resource(vertex).observe(&view)
	if err == nil && presence == Indeterminate {
		err = fmt.Errorf("node %q can't tell whether its dependent exists", r.x.node(vertex).name)
	}
	if err != nil {
		r.unseen = err
	}
	return value, err == nil && presence == Present
}

// reads reports whether n may read another node: what it requires, directly or over others that are required; and with
// Lookup also what the last of these edges leads to, whatever its kind. Direct edges are found at once; the rest is
// searched when first read, and remembered.
func (n *node[P]) reads(other *node[P], how read) bool {
	for _, e := range n.edges {
		if e.to == other && (how == lookup || e.kind.required()) {
			return true
		}
	}
	key := distantRead[P]{other, how}
	if known, ok := n.distant.Load(key); ok {
		return known.(bool)
	}
	found := n.reaches(other, how, map[*node[P]]bool{})
	n.distant.Store(key, found)
	return found
}

type distantRead[P any] struct {
	node *node[P]
	how  read
}

func (n *node[P]) reaches(other *node[P], how read, seen map[*node[P]]bool) bool {
	for _, e := range n.edges {
		if e.to == other && (how == lookup || e.kind.required()) {
			return true
		}
		if e.kind.required() && !seen[e.to] {
			seen[e.to] = true
			if e.to.reaches(other, how, seen) {
				return true
			}
		}
	}
	return false
}

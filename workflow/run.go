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
	moved     *elsewhere[P]
	unseen    error // why an observation couldn't be made
}

// elsewhere is where a view stands that isn't simply of its vertex.
type elsewhere[P any] struct {
	from   *Run[P]    // the view that was moved with At: it is the one that reads
	repeat *repeat[P] // whose instance it stands in
	path   []string   // of that instance
	node   *node[P]   // of a view that has no vertex: the node that is asked
}

// nobody is the vertex of a Run that isn't a node's: of a check, and of the summary at the end, which may read all.
const nobody = -1

func (r *Run[P]) elsewhere(to *elsewhere[P]) *Run[P] {
	moved := *r
	to.from, to.node = r.reader(), r.node()
	moved.moved = to
	return &moved
}

// reader is the view that reads, wherever At has moved it.
func (r *Run[P]) reader() *Run[P] {
	if r.moved != nil && r.moved.from != nil {
		return r.moved.from
	}
	return r
}

// node returns the node that is asked; nil if it is none.
func (r *Run[P]) node() *node[P] {
	switch {
	case r.vertex != nobody:
		return r.x.node(r.vertex)
	case r.moved != nil:
		return r.moved.node
	default:
		return nil
	}
}

// path returns the keys of the instance that r stands in, the outermost Repeat's first, at most so many.
func (r *Run[P]) path(depth int) []string {
	var path []string
	switch {
	case r.moved != nil:
		path = r.moved.path
	case r.vertex != nobody:
		path = r.x.layout.vertices[r.vertex].path()
	}
	return path[:min(depth, len(path))]
}

// Primary returns the primary. Nodes share it and must not change it.
func (r *Run[P]) Primary() P { return r.x.subject.Primary }

// ID returns the identity of the primary, as given by [Subject].
func (r *Run[P]) ID() string { return r.x.subject.ID }

// Node returns the name of the node that is asked; "" in a check or summary.
func (r *Run[P]) Node() string {
	if n := r.node(); n != nil {
		return n.name
	}
	return ""
}

// Key returns the key of the instance that is asked, as it stands in the node's row: "" outside of a [Repeat]. In a
// Repeat within another it is the keys of both, with a slash between, escaped as in RFC 6901.
func (r *Run[P]) Key() string { return joined(r.path(maxDepth)) }

const maxDepth = 1 << 20

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
	n := r.node()
	return n != nil && r.x.runner.collected[n.index]
}

// Inputs is a digest of what the node's prerequisites want, as far as they say so: if it stays the same, a desired
// state that is worked out from them should, too. It is 0 for a node without prerequisites.
func (r *Run[P]) Inputs() uint64 {
	if r.vertex == nobody || len(r.x.layout.prerequisites.of(r.vertex)) == 0 {
		return 0
	}
	return r.x.inputs(r.vertex)
}

// Own returns what the node that is asked manages, as observed, and whether it is there: for a desired state that goes
// on from what there is.
func Own[V, P any](r *Run[P]) (V, bool) {
	n := r.node()
	if n == nil {
		var none V
		return none, false
	}
	value, ok := r.observe(n, r.path(n.depth()))
	v, fits := valueOf[V](value)
	return v, ok && fits
}

// value returns what n yields, if r's node may read it that way.
func (r *Run[P]) value(n *node[P], how read) (any, bool) {
	if own := r.node(); own != nil {
		switch {
		case !own.reads(n, how):
			panic(misuse(fmt.Sprintf(
				"node %q reads node %q with %s, but it isn't a %s of it: see DependsOn", own.name, n.name, how, how.of())))
		case how == get && !r.executing:
			panic(misuse(fmt.Sprintf(
				"node %q reads node %q with Get before it may have been reconciled: use Lookup", own.name, n.name)))
		}
	}
	path := r.pathTo(n)
	if !r.executing {
		return r.observe(n, path)
	}
	v := r.x.layout.find(n, path)
	switch {
	case v == nobody:
		return nil, false
	case r.x.cleanup && n.manages && !r.x.comesFirst(v) && r.node() != nil: // a cleanup makes no other values
		return r.observe(n, path)
	default:
		return r.x.cells[v].value, r.x.marks[v].applied
	}
}

// pathTo returns the path of the instance of n that r sees.
func (r *Run[P]) pathTo(n *node[P]) []string {
	depth := n.depth()
	if depth == 0 {
		return nil
	}
	path := r.path(depth)
	if len(path) < depth || !r.standsIn(n.scope.repeat) {
		panic(misuse(fmt.Sprintf(
			"node %q reads node %q, which is repeated, without saying which instance: use At", r.Node(), n.name)))
	}
	return path
}

func (r *Run[P]) standsIn(part *repeat[P]) bool {
	var at *repeat[P]
	if r.moved != nil && r.moved.repeat != nil {
		at = r.moved.repeat
	} else if own := r.node(); own != nil {
		at = own.scope.repeat
	}
	for at != nil && at != part {
		at = at.outer
	}
	return at != nil
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

func (r *Run[P]) observe(n *node[P], path []string) (any, bool) {
	view := &Run[P]{x: r.x, vertex: r.x.layout.find(n, path)}
	if view.vertex == nobody {
		view.moved = &elsewhere[P]{node: n, path: path}
	}
	resource := r.x.runner.resources[n.index]
	value, presence, err := resource.observe(view)
	if err == nil && presence == Indeterminate {
		err = fmt.Errorf("node %q can't tell whether its dependent exists", n.name)
	}
	if err != nil {
		r.reader().unseen = err
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

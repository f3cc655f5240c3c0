// SPDX-License-Identifier: Apache-2.0

package workflow

// scope is a part of a graph under one name: a group, or what a Repeat repeats. The outermost one is the whole graph.
type scope[P any] struct {
	parent *scope[P]
	name   string     // what its nodes' names begin with, but for the hyphen; "" of the whole graph
	repeat *repeat[P] // the innermost Repeat that it stands in, or that it is; nil outside
	head   *node[P]   // of what a Repeat repeats; nil of a group
}

func (s *scope[P]) prefix() string {
	if s.name == "" {
		return ""
	}
	return s.name + "-"
}

// depth is in how many Repeats the scope stands, itself included.
func (s *scope[P]) depth() int {
	if s.repeat == nil {
		return 0
	}
	return s.repeat.depth
}

func (s *scope[P]) within(name string, repeated *repeat[P]) *scope[P] {
	return &scope[P]{parent: s, name: s.prefix() + name, repeat: repeated}
}

// root returns the whole graph.
func (s *scope[P]) root() *scope[P] {
	for s.parent != nil {
		s = s.parent
	}
	return s
}

// holds reports whether n stands in s, or in a part of it, or is its head.
func (s *scope[P]) holds(n *node[P]) bool {
	if n == s.head {
		return true
	}
	for in := n.scope; in != nil; in = in.parent {
		if in == s {
			return true
		}
	}
	return false
}

// Group returns a builder of the same workflow whose node names begin with name and a hyphen, and whose nodes inherit
// its prerequisites and preconditions. A reusable part of a graph is a function from a Builder to a struct of handles.
// Results and pictures fold groups: see [Picture.Folded].
func (b *Builder[P]) Group(name string) *Builder[P] {
	inner := *b
	inner.scope = b.scope.within(name, b.scope.repeat)
	return &inner
}

// All returns every node of the group as one prerequisite: those declared through b and through groups of it, before
// or after. It takes the place of a handle in [Optional] and the other edges.
func (b *Builder[P]) All() Handle[P] { return part[P]{b.scope} }

type part[P any] struct{ scope *scope[P] }

func (p part[P]) Name() string { return p.scope.name }

func (p part[P]) edge() edge[P] { return edge[P]{all: p.scope} }

// expand replaces the edges to parts of the graph by edges to their nodes, and adds to an edge into a Repeat those to
// the Repeats that the node stands in and n doesn't: without them nobody knows the instances.
func (n *node[P]) expand(nodes []*node[P]) {
	var out []edge[P]
	for declared, e := range n.declared {
		e.declared = int32(declared)
		switch {
		case e.all == nil:
			out = append(out, n.into(e)...)
			continue
		case e.all.root() != n.scope.root():
			out = append(out, edge[P]{}) // it leads to another workflow
			continue
		}
		for _, to := range nodes {
			if e.all.holds(to) {
				single := e
				single.to = to
				if to != e.all.head && e.kind == where { // the predicate is about the keys
					single.kind = ready
				}
				if to.cleanup && !n.cleanup && e.kind.required() && to != e.all.head { // there is nothing to require yet
					single.kind = optional
				}
				out = append(out, n.into(single)...)
			}
		}
	}
	n.edges = out
}

func (n *node[P]) into(e edge[P]) []edge[P] {
	out := []edge[P]{e}
	if e.to == nil || e.to.graph != n.graph {
		return out
	}
	for at := e.to.scope.repeat; at != nil && !n.standsIn(at); at = at.outer {
		if at == n.head {
			continue // it depends on a node inside itself, which Build refuses as a cycle
		}
		head := edge[P]{to: at.head, kind: e.kind, declared: e.declared, implied: true}
		if e.kind == where {
			head.kind = ready
		}
		out = append(out, head)
	}
	return out
}

// standsIn reports whether n is repeated by part, directly or in a Repeat in it.
func (n *node[P]) standsIn(part *repeat[P]) bool {
	at := n.scope.repeat
	for at != nil && at != part {
		at = at.outer
	}
	return at != nil
}

// repeats returns the Repeats that n stands in, the innermost first.
func (n *node[P]) repeats() (around []*repeat[P]) {
	for at := n.scope.repeat; at != nil; at = at.outer {
		around = append(around, at)
	}
	return around
}

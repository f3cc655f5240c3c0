// SPDX-License-Identifier: Apache-2.0

package workflow

import "slices"

// grown is what a layout has that was made by a run, for a graph with Repeats.
type grown[P any] struct {
	base      []int32     // of a node: the first vertex of its instances, nobody if it has none yet
	instances []instances // of a Repeat
	listed    map[*node[P]][][]string
	unlisted  map[*node[P]]error
	existing  map[*repeat[P]]map[string]map[string]bool
}

// grow plans a graph with Repeats and makes its layout as the keys become known: node by node in topological order, so
// that the head of a Repeat has been classified before its instances are made, and each of these before what needs it.
func (x *execution[P]) grow() {
	w := x.runner.workflow
	l := &layout[P]{grown: grown[P]{
		base: make([]int32, len(w.nodes)), instances: make([]instances, len(w.repeats)),
		listed: map[*node[P]][][]string{}, unlisted: map[*node[P]]error{},
		existing: map[*repeat[P]]map[string]map[string]bool{},
	}}
	l.prerequisites.first = []int32{0}
	for i := range l.base {
		l.base[i] = nobody
	}
	x.layout = l
	for _, i := range w.order {
		n := w.nodes[i]
		l.add(n)
		x.extend()
		for v := l.base[i]; v < int32(len(l.vertices)); v++ {
			x.classify(v)
		}
		if n.head != nil {
			x.open(n.head)
		}
	}
	l.finish(w)
}

// add makes the vertices of n, one per instance, and the arcs to their prerequisites.
func (l *layout[P]) add(n *node[P]) {
	l.base[n.index] = int32(len(l.vertices))
	all := []*instance{nil}
	if n.scope.repeat != nil {
		all = l.instances[n.scope.repeat.index].all
	}
	if l.unlisted[n] != nil {
		all = append(slices.Clip(all), &instance{number: int32(len(all)), unlisted: true})
	}
	for _, i := range all {
		l.vertices = append(l.vertices, newVertex(n, i))
		for k, e := range n.edges {
			l.join(n, i, int32(k), e)
		}
		l.prerequisites.first = append(l.prerequisites.first, int32(len(l.prerequisites.list)))
		l.conditions += n.conditions()
	}
}

// join adds the arcs of one edge of an instance: to the same instance of what is repeated with it, and to all instances
// of what isn't.
func (l *layout[P]) join(n *node[P], i *instance, number int32, e edge[P]) {
	depth, from, to := l.common(n, i, e.to)
	many := e.to.depth() > depth
	if many {
		from, to = l.ends(e.to.scope.repeat, depth, from, to)
	}
	first, bundled := l.base[e.to.index], many || i != nil && i.unlisted && depth > 0
	add := func(at int32) {
		l.prerequisites.list = append(l.prerequisites.list, arc{first + at, number, e.kind, bundled})
	}
	for at := from; at < to; at++ {
		add(at)
	}
	if many && l.unlisted[e.to] != nil {
		add(int32(len(l.instances[e.to.scope.repeat.index].all)))
	}
}

// common returns in how many Repeats n and another node stand together, and which instances of the innermost of these
// an instance of n stands in: one, or all if it isn't known.
func (l *layout[P]) common(n *node[P], i *instance, other *node[P]) (depth int, from, to int32) {
	part := other.scope.repeat
	for part != nil && !n.standsIn(part) {
		part = part.outer
	}
	switch {
	case part == nil:
		return 0, 0, 1
	case i.unlisted:
		return part.depth, 0, int32(len(l.instances[part.index].all))
	default:
		at := i.at(part.depth).number
		return part.depth, at, at + 1
	}
}

// ends returns which instances of part stand in those from from to to of the Repeat at a depth around it.
func (l *layout[P]) ends(part *repeat[P], depth int, from, to int32) (first, end int32) {
	if part.depth > depth+1 {
		from, to = l.ends(part.outer, depth, from, to)
	}
	first, end = l.instances[part.index].first[from], l.instances[part.index].first[to]
	return first, end
}

// finish works out the rest, once all vertices are there.
func (l *layout[P]) finish(w *Workflow[P]) {
	l.links = newLinks(l.prerequisites)
	l.order = identity(len(l.vertices))
	l.position, l.declared = make([]int32, len(l.vertices)), make([]int32, 0, len(l.vertices))
	for _, n := range w.nodes {
		for v := l.base[n.index]; v < int32(len(l.vertices)) && l.vertices[v].node == n; v++ {
			l.position[v] = int32(len(l.declared))
			l.declared = append(l.declared, v)
		}
	}
	l.rank()
}

// find returns the vertex of the instance of n with the given path, or nobody.
func (l *layout[P]) find(n *node[P], path []string) int32 {
	switch {
	case l == nil:
		return nobody
	case l.base == nil:
		return l.declared[n.index]
	case l.base[n.index] == nobody || n.scope.repeat == nil:
		return l.base[n.index]
	}
	if i, ok := l.instances[n.scope.repeat.index].byKey[joined(path)]; ok {
		return l.base[n.index] + i
	}
	return nobody
}

func (v *vertex[P]) path() []string {
	if v.instance == nil {
		return nil
	}
	return v.instance.path
}

// key is the part of the vertex' identity that its node doesn't tell.
func (v *vertex[P]) key() string {
	if v.instance == nil {
		return ""
	}
	return v.instance.key
}

// title is the name of the node, with the key of the instance.
func (v *vertex[P]) title() string {
	if key := v.key(); key != "" {
		return v.name + "[" + key + "]"
	}
	return v.name
}

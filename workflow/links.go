// SPDX-License-Identifier: Apache-2.0

package workflow

// arc leads to a vertex over an edge.
type arc struct {
	to   int32
	edge int32 // number of the edge in its declaring node
	kind edgeKind
	// bundled says that the arc is one of several of its edge, which leads from outside into a Repeat: instances that
	// aren't wanted are left out, and their removal waits as behind an Optional edge.
	bundled bool
}

// arcs holds the arcs of every vertex, one vertex after the other (compressed sparse rows).
type arcs struct {
	first []int32 // of a vertex; one more at the end
	list  []arc
}

func (a arcs) of(v int32) []arc { return a.list[a.first[v]:a.first[v+1]] }

// links are the edges of a graph as arcs between vertices, from both ends.
type links struct {
	prerequisites, downstream arcs
}

// newLinks adds the other end of each arc.
func newLinks(prerequisites arcs) links {
	n := len(prerequisites.first) - 1
	down := arcs{first: make([]int32, n+1), list: make([]arc, len(prerequisites.list))}
	for _, a := range prerequisites.list {
		down.first[a.to+1]++
	}
	for v := range n {
		down.first[v+1] += down.first[v]
	}
	next := append([]int32(nil), down.first...)
	for v := range int32(n) {
		for _, a := range prerequisites.of(v) {
			to := a.to
			a.to = v
			down.list[next[to]] = a
			next[to]++
		}
	}
	return links{prerequisites, down}
}

// nodeLinks has a vertex per node. It leaves out edges that Build refuses: to foreign nodes, and of a node to itself.
func nodeLinks[P any](nodes []*node[P]) links {
	out := arcs{first: make([]int32, 1, len(nodes)+1)}
	for _, n := range nodes {
		for k, e := range n.edges {
			if e.to == nil || e.to.graph != n.graph || e.to == n {
				continue
			}
			out.list = append(out.list, arc{e.to.index, int32(k), e.kind, e.to.crosses(n)})
		}
		out.first = append(out.first, int32(len(out.list)))
	}
	return newLinks(out)
}

func (l links) count() int { return len(l.prerequisites.first) - 1 }

// topological is Kahn's algorithm (1962), ties by number. Vertices on and behind a cycle are missing from the result.
func (l links) topological() []int32 {
	n := l.count()
	free := newQueue(identity(n), identity(n))
	waits := make([]int32, n)
	for v := range int32(n) {
		if waits[v] = int32(len(l.prerequisites.of(v))); waits[v] == 0 {
			free.push(v)
		}
	}
	order := make([]int32, 0, n)
	for free.length > 0 {
		v := free.pop()
		order = append(order, v)
		for _, a := range l.downstream.of(v) {
			if waits[a.to]--; waits[a.to] == 0 {
				free.push(a.to)
			}
		}
	}
	return order
}

// parts numbers the connected parts of the graph; edges of every kind but Gone connect.
func (l links) parts() []int32 {
	part := make([]int32, l.count())
	for i := range part {
		if part[i] != 0 {
			continue
		}
		part[i] = int32(i + 1)
		for stack := []int32{int32(i)}; len(stack) > 0; {
			v := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			for _, list := range [...][]arc{l.prerequisites.of(v), l.downstream.of(v)} {
				for _, a := range list {
					if a.kind != gone && part[a.to] == 0 {
						part[a.to] = part[i]
						stack = append(stack, a.to)
					}
				}
			}
		}
	}
	return part
}

func identity(n int) []int32 {
	same := make([]int32, n)
	for i := range same {
		same[i] = int32(i)
	}
	return same
}

// SPDX-License-Identifier: Apache-2.0

package workflow

import "strings"

// Repeat declares a part of a graph once and runs it once per key. Edges between its nodes are from instance to
// instance; an edge from outside, to the Repeat or to a node in it, is to all instances, and leaves out those that
// aren't wanted.
//
// Keys are asked once per run, in the plan: from the primary, and through Lookup from what is observed. They must be
// unique and not empty. An error fails the Repeat and tears nothing down. An instance whose key is no longer wanted is
// deleted in reverse order, once what depends on it has been reconciled without it; which keys exist is asked of the
// nodes' Resources (see [Resource]), and a cleanup uses only these.
//
// A Repeat that is inactive leaves all of it alone, and has no instances. In a cleanup it yields the keys that exist.
//
// The nodes in it have names like those of a group, and one row per key in a [Result].
func Repeat[P any, K ~string, H any](
	b *Builder[P], name string, keys func(r *Run[P]) ([]K, error), declare func(b *Builder[P], key Key[P, K]) H,
) *Repeated[P, K, H] {
	h := &Repeated[P, K, H]{}
	Declare(b, name, wantedKeys[P, K]{}, &h.Base, h)
	h.repeat = &repeat[P]{head: h.node, outer: b.scope.repeat, depth: 1, index: len(b.graph.repeats)}
	if h.repeat.outer != nil {
		h.repeat.depth += h.repeat.outer.depth
	}
	h.repeat.keys = func(r *Run[P]) (any, []string, error) {
		wanted, err := keys(r)
		plain := make([]string, len(wanted))
		for i, k := range wanted {
			plain[i] = string(k)
		}
		return wanted, plain, err
	}
	h.repeat.typed = func(keys []string) any {
		typed := make([]K, len(keys))
		for i, k := range keys {
			typed[i] = K(k)
		}
		return typed
	}
	h.node.head = h.repeat
	b.graph.repeats = append(b.graph.repeats, h.repeat)

	inner := *b
	inner.scope = b.scope.within(name, h.repeat)
	inner.scope.head = h.node
	inner.edges, inner.conditions = []edge[P]{{to: h.node}}, nil // the rest comes through the head
	h.scope = inner.scope
	h.Nodes = declare(&inner, Key[P, K]{depth: h.repeat.depth})
	return h
}

// Repeated is the handle of a part of a graph that runs once per key. It yields the keys that are wanted. What it
// depends on and when it is wanted goes for every node in it.
type Repeated[P any, K ~string, H any] struct {
	Base[P, []K, *Repeated[P, K, H]]
	// Nodes is what the declaration returned: the handles of the nodes that are repeated.
	Nodes  H
	repeat *repeat[P]
	scope  *scope[P]
}

func (x *Repeated[P, K, H]) edge() edge[P] { return edge[P]{all: x.scope} }

// At returns r as the instance of key k sees it, to read that instance from outside: x.Nodes.Set.Get(x.At(r, k)).
func (x *Repeated[P, K, H]) At(r *Run[P], k K) *Run[P] {
	path := make([]string, 0, x.repeat.depth)
	path = append(append(path, r.path(x.repeat.depth-1)...), string(k))
	return r.elsewhere(&elsewhere[P]{repeat: x.repeat, path: path})
}

// AtLeast lets edges from outside be satisfied by n instances, instead of all: once all have settled in this run, n of
// them must be as the edge wants them. The rest stays visible in the result, which isn't Ready before they are.
func (x *Repeated[P, K, H]) AtLeast(n int) *Repeated[P, K, H] {
	x.refinedRepeat().atLeast = n
	return x
}

// MaxUnavailable bounds how many instances may be unready at once because of changes: an instance that stands and is
// ready is changed only while fewer than n others are being changed or aren't ready. What doesn't stand is created at
// once. One that must not change yet is Waiting, reason MaxUnavailable.
func (x *Repeated[P, K, H]) MaxUnavailable(n int) *Repeated[P, K, H] {
	x.refinedRepeat().maxUnavailable = n
	return x
}

// InOrder creates and changes an instance only once those before it, in the order in which the keys were given, are
// ready. One whose turn it isn't is Waiting, reason InOrder. An instance with nothing to do waits for none.
func (x *Repeated[P, K, H]) InOrder() *Repeated[P, K, H] {
	x.refinedRepeat().inOrder = true
	return x
}

func (x *Repeated[P, K, H]) refinedRepeat() *repeat[P] {
	if x.refined() != x.node {
		return &repeat[P]{}
	}
	return x.repeat
}

// Key stands for the key of an instance in the declaration of what is repeated.
type Key[P any, K ~string] struct{ depth int }

// Of returns the key of the instance that r belongs to; "" if it belongs to none.
func (k Key[P, K]) Of(r *Run[P]) K {
	if path := r.path(k.depth); len(path) == k.depth && k.depth > 0 {
		return K(path[k.depth-1])
	}
	return ""
}

// repeat is a Repeat of a graph, whatever the type of its keys.
type repeat[P any] struct {
	head  *node[P]
	outer *repeat[P] // the one around it
	depth int        // in how many Repeats its nodes stand
	index int        // in the graph
	nodes []*node[P] // that stand in it, also in Repeats in it; set by Build
	keys  func(r *Run[P]) (value any, keys []string, err error)
	typed func(keys []string) any // as what its head yields

	atLeast, maxUnavailable int
	inOrder                 bool
}

func (p *repeat[P]) rollsOut() bool { return p.maxUnavailable > 0 || p.inOrder }

// quorum reports whether fewer than all instances may do, here or in a Repeat around.
func (p *repeat[P]) quorum() bool { return p != nil && (p.atLeast > 0 || p.outer.quorum()) }

// wantedKeys is the kind of the node that a Repeat begins with. The plan has asked for its keys.
type wantedKeys[P any, K ~string] struct{}

func (wantedKeys[P, K]) ManagesNothing() {}

func (k wantedKeys[P, K]) Bind(any) (Resource[P, []K], error) { return k, nil }

func (wantedKeys[P, K]) Observe(r *Run[P]) ([]K, Presence, error) {
	value, presence, err := r.askedKeys()
	keys, _ := value.([]K)
	return keys, presence, err
}

func (wantedKeys[P, K]) Prepare(r *Run[P]) (Step[[]K], error) {
	value, _, err := r.askedKeys()
	keys, _ := value.([]K)
	return Step[[]K]{Value: keys, Ready: Met()}, err
}

func (wantedKeys[P, K]) Delete(*Run[P]) (Removal, error) { return Removal{Gone: true}, nil }

// joined is the one name of a path of keys: the keys with slashes between, as in RFC 6901 if there are several.
func joined(path []string) string {
	switch len(path) {
	case 0:
		return ""
	case 1:
		return path[0]
	}
	escaped := make([]string, len(path))
	for i, key := range path {
		escaped[i] = strings.NewReplacer("~", "~0", "/", "~1").Replace(key)
	}
	return strings.Join(escaped, "/")
}

// split is the inverse of joined, for paths of the given length.
func split(name string, length int) (path []string, ok bool) {
	if length == 1 {
		return []string{name}, name != ""
	}
	path = strings.Split(name, "/")
	for i, key := range path {
		path[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(key)
		ok = key != "" && (ok || i == 0)
	}
	return path, ok && len(path) == length
}

// SPDX-License-Identifier: Apache-2.0

package workflow

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"time"
)

// node is one declaration of a graph. Nothing in it changes after Build, but for what is remembered of its reads.
type node[P any] struct {
	graph   *graph[P]
	scope   *scope[P]
	name    string
	index   int32      // in declaration order
	head    *repeat[P] // that begins with it
	manages bool       // it manages something that can be deleted
	// declared are its edges as they were declared, edges what Build makes of them: each leads to a node.
	declared, edges []edge[P]
	kind            any
	bind            func(env any) (resource[P], error)
	// cleanup says that it exists only in cleanup.
	cleanup bool
	// secret says that what it yields, and whatever may quote that, must not be shown.
	secret bool

	activate, reconcile, hold, remove, removed []condition[P]

	ready   []readiness[P]
	timeout time.Duration
	backoff Backoff
	// deadline is how long the node may take to become ready; 0: any time.
	deadline  time.Duration
	onFailure func(ctx context.Context, r *Run[P], err error) error

	traits   traits
	required string   // "requires" and its name, said of what isn't wanted without it
	distant  sync.Map // of distantRead to whether it is allowed; see reads
}

// settle works out what a run wants to know at a glance.
func (n *node[P]) settle() {
	n.required = "requires " + n.name
	for trait, has := range map[traits]bool{
		manages: n.manages, activates: len(n.activate) > 0, decides: len(n.reconcile) > 0, holdsBack: len(n.hold) > 0,
		judges: len(n.ready) > 0, concludes: n.deadline > 0 || n.onFailure != nil, atCleanup: n.cleanup && n.head == nil,
		rollsOut: slices.ContainsFunc(n.repeats(), (*repeat[P]).rollsOut),
	} {
		if has {
			n.traits |= trait
		}
	}
	for _, e := range n.edges {
		if e.kind == where {
			n.traits |= doubts
		}
		if n.quorate(e) {
			n.traits |= doubts | quorate
		}
	}
}

// conditions is how many verdicts may be asked for of the node in a run.
func (n *node[P]) conditions() int {
	count := len(n.activate) + len(n.reconcile) + len(n.hold) + len(n.ready) + len(n.remove) + len(n.removed)
	for _, e := range n.edges {
		if e.kind == where {
			count++
		}
	}
	return count
}

// depth is in how many Repeats n stands.
func (n *node[P]) depth() int { return n.scope.depth() }

// crosses reports whether n stands in a Repeat that other doesn't stand in: an edge from other to it is one to many.
func (n *node[P]) crosses(other *node[P]) bool {
	return n.scope.repeat != nil && !other.standsIn(n.scope.repeat)
}

// condition is a question about the primary and the world, asked at most once per run by each node that declares it.
type condition[P any] struct {
	name   string
	holds  func(r *Run[P]) Verdict
	shared int // of a group's condition: its number, from 1; asked once for all of the group
	depth  int // of a group's condition: in how many Repeats the group stands
}

type readiness[P any] struct {
	name  string
	holds func(r *Run[P], value any) Verdict
}

// Base is what the handles of all kinds of node have in common: reading the node's value, and refining it. A kind's
// handle embeds it with itself as Self, so that a chain of refinements keeps the kind:
//
//	type Bucket[P any] struct {
//		workflow.Base[P, State, *Bucket[P]]
//	}
//
// Refinements belong between declaration and Build; a handle isn't safe for concurrent use before that.
type Base[P, V, Self any] struct {
	node *node[P]
	self Self
}

// Declare adds a node to b and binds base, which is embedded in self, to it. It is how kinds of node are made; authors
// of graphs call the functions that such kinds offer.
func Declare[P, V, Self any](b *Builder[P], name string, kind Kind[P, V], base *Base[P, V, Self], self Self) Self {
	_, passive := kind.(interface{ ManagesNothing() })
	if g := b.graph; g.built {
		g.late = append(g.late, b.scope.prefix()+name)
	}
	n := &node[P]{
		graph:     b.graph,
		scope:     b.scope,
		name:      b.scope.prefix() + name,
		cleanup:   b.atCleanup,
		index:     int32(len(b.graph.nodes)),
		manages:   !passive,
		kind:      kind,
		declared:  slices.Clip(b.edges),
		reconcile: slices.Clip(b.conditions),
	}
	slab := b.graph.slabOf(reflect.TypeFor[V]())
	n.bind = func(env any) (resource[P], error) {
		r, err := kind.Bind(env)
		return erased[P, V]{r, slab}, err
	}
	b.graph.nodes = append(b.graph.nodes, n)
	base.node, base.self = n, self
	return self
}

func (b *Base[P, V, Self]) edge() edge[P] { return edge[P]{to: b.node} }

// Name returns the node's name, with the prefix of its group.
func (b *Base[P, V, Self]) Name() string { return b.node.name }

// Get returns what the node yields in this run. It is for nodes that have it as a required prerequisite, directly or
// over others; a node that reads anything else with it fails, with both names in the error.
func (b *Base[P, V, Self]) Get(r *Run[P]) V {
	value, ok := r.value(b.node, get)
	if !ok {
		panic(misuse(fmt.Sprintf("node %q isn't there in this run: read it with Lookup", b.node.name)))
	}
	v, _ := valueOf[V](value)
	return v
}

// Lookup returns what the node yields in this run and whether it is there, for prerequisites that may be missing. In a
// condition that is asked before anything is touched it returns what is observed in the world.
func (b *Base[P, V, Self]) Lookup(r *Run[P]) (V, bool) {
	value, ok := r.value(b.node, lookup)
	v, _ := valueOf[V](value)
	return v, ok
}

// refined returns the node, to change it. After Build that would change what runs: it is told to NewRunner instead.
func (b *Base[P, V, Self]) refined() *node[P] {
	if g := b.node.graph; g.built {
		g.late = append(g.late, b.node.name)
		return &node[P]{graph: g}
	}
	return b.node
}

// DependsOn adds prerequisites. All of them must be satisfied before the node is reconciled; it is deleted before them.
func (b *Base[P, V, Self]) DependsOn(prerequisites ...Edge[P]) Self {
	n := b.refined()
	for _, x := range prerequisites {
		n.declared = append(n.declared, edgeTo(x))
	}
	return b.self
}

// ActivateWhen adds an activation condition. Unmet: the node is left alone, neither reconciled nor deleted.
func (b *Base[P, V, Self]) ActivateWhen(name string, holds func(r *Run[P]) Verdict) Self {
	n := b.refined()
	n.activate = append(n.activate, condition[P]{name: name, holds: holds})
	return b.self
}

// ReconcileWhen adds a precondition. Unmet: the dependent must not exist, and is deleted.
func (b *Base[P, V, Self]) ReconcileWhen(name string, holds func(r *Run[P]) Verdict) Self {
	n := b.refined()
	n.reconcile = append(n.reconcile, condition[P]{name: name, holds: holds})
	return b.self
}

// HoldUntil adds a gate. Unmet: the node is neither created nor updated for now. It doesn't hold a deletion back.
func (b *Base[P, V, Self]) HoldUntil(name string, holds func(r *Run[P]) Verdict) Self {
	n := b.refined()
	n.hold = append(n.hold, condition[P]{name: name, holds: holds})
	return b.self
}

// ReadyWhen adds a condition on what the node yields. It replaces the kind's own rule for readiness.
func (b *Base[P, V, Self]) ReadyWhen(name string, holds func(r *Run[P], value V) Verdict) Self {
	n := b.refined()
	n.ready = append(n.ready, readiness[P]{name: name, holds: func(r *Run[P], value any) Verdict {
		v, _ := valueOf[V](value)
		return holds(r, v)
	}})
	return b.self
}

// DeleteWhen adds a precondition of deletion. Unmet: the node stays Deleting, and its dependent stays.
func (b *Base[P, V, Self]) DeleteWhen(name string, holds func(r *Run[P]) Verdict) Self {
	n := b.refined()
	n.remove = append(n.remove, condition[P]{name: name, holds: holds})
	return b.self
}

// DeletedWhen adds a postcondition of deletion, beyond what the kind itself means by gone.
func (b *Base[P, V, Self]) DeletedWhen(name string, holds func(r *Run[P]) Verdict) Self {
	n := b.refined()
	n.removed = append(n.removed, condition[P]{name: name, holds: holds})
	return b.self
}

// Timeout bounds each execution of the node; the default is a minute.
func (b *Base[P, V, Self]) Timeout(d time.Duration) Self {
	n := b.refined()
	n.timeout = d
	return b.self
}

// Backoff spaces the retries after failures of the node.
func (b *Base[P, V, Self]) Backoff(spacing Backoff) Self {
	n := b.refined()
	n.backoff = spacing
	return b.self
}

// ProgressDeadline fails the node for good if it isn't ready for longer than d, counted from when it was first seen so
// in this process; it is ready again as soon as it is found so.
func (b *Base[P, V, Self]) ProgressDeadline(d time.Duration) Self {
	n := b.refined()
	n.deadline = d
	return b.self
}

// OnFailure sets what is done when the node, being wanted, fails for good: by a terminal error, an exhausted backoff,
// broken readiness or its progress deadline. A node that failed in the plan, or to be deleted, isn't answered. It runs
// at least once per such failure, and again after a restart of the process, so it must be idempotent; the node stays
// Failed. Its context has the node's timeout.
func (b *Base[P, V, Self]) OnFailure(answer func(ctx context.Context, r *Run[P], err error) error) Self {
	n := b.refined()
	n.onFailure = answer
	return b.self
}

// Node is the handle of kinds that have no refinements of their own.
type Node[P, V any] struct {
	Base[P, V, *Node[P, V]]
}

// Add declares a node of any kind.
func Add[P, V any](b *Builder[P], name string, kind Kind[P, V]) *Node[P, V] {
	h := &Node[P, V]{}
	return Declare(b, name, kind, &h.Base, h)
}

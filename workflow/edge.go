// SPDX-License-Identifier: Apache-2.0

package workflow

import "reflect"

// Edge is one prerequisite of a node, with its quality. A handle is an Edge: that node must be ready. [ToCreate],
// [Applied], [Where], [Optional], [Loose] and [Gone] make other edges of it. [Builder.All] stands for all of a group.
type Edge[P any] interface{ edge() edge[P] }

// Handle is a node of a workflow for primaries of type P, whatever it yields and whatever its kind.
type Handle[P any] interface {
	Edge[P]
	Name() string
}

// Source is a node that yields V.
type Source[P, V any] interface {
	Handle[P]
	Get(r *Run[P]) V
}

// ToCreate needs x to be ready until the dependent of the declaring node exists; from then on it is enough that x was
// reconciled in this run, so that a prerequisite that blips doesn't freeze what stands.
func ToCreate[P any](x Handle[P]) Edge[P] { return kindOf(x, toCreate) }

// Applied is satisfied as soon as x was reconciled in this run, ready or not.
func Applied[P any](x Handle[P]) Edge[P] { return kindOf(x, applied) }

// Where needs x to be ready and what it yields to satisfy holds, which is asked at most once per run.
func Where[P, V any](x Source[P, V], holds func(V) Verdict) Edge[P] {
	e := kindOf(x, where)
	e.holds = func(r *Run[P]) Verdict { return holds(x.Get(r)) }
	return e
}

// Optional waits for x if x is wanted, and vanishes if x is inactive or unwanted. The removal of x waits until the
// declaring node was reconciled without it.
func Optional[P any](x Handle[P]) Edge[P] { return kindOf(x, optional) }

// Loose is [Optional], but the removal of x doesn't wait.
func Loose[P any](x Handle[P]) Edge[P] { return kindOf(x, loose) }

// Gone needs x to be unwanted and gone, for a successor that needs the seat of its predecessor.
func Gone[P any](x Handle[P]) Edge[P] { return kindOf(x, gone) }

type edgeKind uint8

const (
	ready edgeKind = iota
	toCreate
	applied
	where
	optional
	loose
	gone
)

// required reports whether a node can't be wanted without what the edge leads to.
func (k edgeKind) required() bool { return k < optional }

func (k edgeKind) String() string {
	return [...]string{"ready", "to create", "applied", "where", "optional", "loose", "gone"}[k]
}

type edge[P any] struct {
	to    *node[P]
	all   *scope[P] // instead: all nodes of a part of the graph; only until Build
	kind  edgeKind
	holds func(r *Run[P]) Verdict // of a where edge; r stands in the instance that the arc leads to
	// What Build has made of it:
	declared int32 // which of the node's declared edges it comes from
	implied  bool  // it leads to the head of a Repeat, since another leads into it
}

func (e edge[P]) edge() edge[P] { return e }

func kindOf[P any](x Handle[P], kind edgeKind) edge[P] {
	e := edgeTo[P](x)
	e.kind = kind
	return e
}

// edgeTo leads nowhere from a nil handle, which Build refuses.
func edgeTo[P any](x Edge[P]) edge[P] {
	if x == nil || reflect.ValueOf(x).Kind() == reflect.Pointer && reflect.ValueOf(x).IsNil() {
		return edge[P]{}
	}
	return x.edge()
}

// SPDX-License-Identifier: Apache-2.0

package workflow

import (
	"context"
	"time"
)

// Kind describes what a node does, independently of any environment.
//
// A Kind that owns nothing in the world, such as a computed value or a read-only reference, says so with a method
// ManagesNothing(): its node has nothing to delete.
type Kind[P, V any] interface {
	// Bind makes the kind live in an environment. It is called once per Runner and node; an error fails the set-up.
	Bind(env any) (Resource[P, V], error)
}

// Resource is the kind of one node, bound to an environment. It must be safe for concurrent use: a Runner calls it for
// many primaries at once.
//
// Observe, Prepare and Delete do no I/O: they run on the scheduler's goroutine. What needs I/O is returned as a
// function and runs beside other nodes, so that a node with nothing to do costs no goroutine, and what a node wants is
// known before it is executed.
//
// What else a Resource can do it says with methods of its own, which are asked for at binding:
//
//   - Collectable() bool: whether the garbage collector can remove what it manages once the primary is gone;
//   - Keys(r *Run[P]) ([]string, error): the keys of the instances that exist, each as [Run.Key] gives it, in any
//     order. A node that manages something needs it in a [Repeat]. An error means that they aren't known, and deletes
//     nothing that such an instance may hold;
//   - DryRun(ctx context.Context, r *Run[P]) (Preview, error): what the Do that Prepare has returned would do, for
//     [Runner.Plan]. It may do I/O and runs beside other nodes.
type Resource[P, V any] interface {
	// Observe says what is there. It must not need the value of any other node.
	Observe(r *Run[P]) (V, Presence, error)
	// Prepare computes what the node wants and compares it with what is there.
	Prepare(r *Run[P]) (Step[V], error)
	// Delete begins or continues the removal of what is there. It must not need the value of any other node.
	Delete(r *Run[P]) (Removal, error)
}

// Presence is what is known about the existence of something.
type Presence uint8

// The zero Presence is Indeterminate, so that an answer that was never given isn't absence.
const (
	Indeterminate Presence = iota
	Present
	Absent
)

// Step is the rest of a reconcile. If Do is nil nothing has to be done, and Value and Ready stand.
type Step[V any] struct {
	// Intent is a digest of what is wanted; 0 means that none is known. A failed node is tried again at once if it
	// changes.
	Intent uint64
	// Claims names what the node manages, such that no other node may: of nodes that claim the same in one run, the
	// first that is prepared has it, and the others fail for good, reason ClaimedBy, before their Do.
	Claims []string
	// Value is what the node yields.
	Value V
	// Ready is the kind's own verdict on readiness; ReadyWhen replaces it. The zero Verdict is unknown. Beside a Do it
	// says how what stands is now, for the bounds of a Repeat: only an unmet or broken one counts as unready there.
	Ready Verdict
	// Poll asks for another run after this time, for what changes without a watch that announces it; 0 asks for none.
	Poll time.Duration
	// Drift says what somebody else has changed of what the node manages, and that is left so; "" if nothing.
	Drift string
	// Do does what needs I/O. Its context ends with the node's timeout or the run.
	Do func(ctx context.Context) (Outcome[V], error)
	// Prune removes what the node has made before and doesn't manage any more, such as an object under a former name. It
	// is called at the end of a reconcile in which the node became Ready, and so did all that depends on it, dependants
	// first; what it finds by then is what the node's own Do has left. Nil means that there is nothing.
	Prune func() (Removal, error)
}

// Outcome is what Do did: the step that it leaves behind, and how it got there.
type Outcome[V any] struct {
	Value     V
	Ready     Verdict
	Operation Operation
	Poll      time.Duration
	Drift     string // corrected by an Update; left as it is if the Operation is None
}

// Preview is what a Do would do.
type Preview struct {
	Operation Operation
	// Diff shows the changes to people, line by line, without anything secret.
	Diff string
}

// Operation is what was done to a dependent in a run.
type Operation string

// The operations of a run.
const (
	None     Operation = ""
	Create   Operation = "Create"
	Update   Operation = "Update"
	Recreate Operation = "Recreate"
	Delete   Operation = "Delete"
	Adopt    Operation = "Adopt"
	Release  Operation = "Release"
)

// Removal is the state of a deletion.
type Removal struct {
	// Gone says that nothing is there any more.
	Gone bool
	// Reason and Message say what holds it, if it isn't gone and nothing is left to do but wait.
	Reason, Message string
	Operation       Operation
	// Poll asks for another run after this time, as in a Step.
	Poll time.Duration
	// Do does what needs I/O and returns the state that it leaves behind.
	Do func(ctx context.Context) (Removal, error)
}

// resource is a Resource whose value type is forgotten.
type resource[P any] interface {
	observe(r *Run[P]) (any, Presence, error)
	prepare(r *Run[P], into *prepared) error
	do(ctx context.Context, p *prepared) (Operation, error)
	remove(r *Run[P]) (Removal, error)
	unwrap() any
}

// prepared is a Step whose value type is forgotten. A pointer, like a function, is stored in an interface without an
// allocation.
type prepared struct {
	value  any // a *V
	intent uint64
	ready  Verdict
	poll   time.Duration
	drift  string
	claims []string
	run    any // the Do; nil if there is none
	prune  func() (Removal, error)
}

type erased[P, V any] struct {
	Resource[P, V]
	slab int // where its values are kept: see slabs
}

func (e erased[P, V]) observe(r *Run[P]) (any, Presence, error) {
	v, presence, err := e.Observe(r)
	return v, presence, err
}

func (e erased[P, V]) prepare(r *Run[P], into *prepared) error {
	step, err := e.Prepare(r)
	into.value = keep(&r.x.slabs[e.slab], step.Value)
	into.intent, into.ready, into.poll, into.drift, into.run = step.Intent, step.Ready, step.Poll, step.Drift, nil
	into.claims, into.prune = step.Claims, step.Prune
	if step.Do != nil {
		into.run = step.Do
	}
	return err
}

// do runs what prepare has found, and leaves there what came of it.
func (e erased[P, V]) do(ctx context.Context, p *prepared) (Operation, error) {
	o, err := p.run.(func(context.Context) (Outcome[V], error))(ctx)
	value := o.Value // a pointer into the outcome would keep all of it
	p.value, p.ready, p.poll, p.drift = &value, o.Ready, o.Poll, o.Drift
	return o.Operation, err
}

func (e erased[P, V]) remove(r *Run[P]) (Removal, error) { return e.Delete(r) }

func (e erased[P, V]) unwrap() any { return e.Resource }

// slab keeps the values of one type that a run makes, so that forgetting their type costs no allocation for each.
type slab struct {
	values interface{ reset() } // a *shelf
	size   int                  // of the next one
}

type shelf[V any] []V

func (s *shelf[V]) reset() {
	clear(*s)
	*s = (*s)[:0]
}

// keep stores v where it doesn't move: when a shelf is full, there is another.
func keep[V any](in *slab, v V) *V {
	values, _ := in.values.(*shelf[V])
	if values == nil || len(*values) == cap(*values) {
		values = new(make(shelf[V], 0, in.size))
		in.values, in.size = values, 2*in.size
	}
	*values = append(*values, v)
	return &(*values)[len(*values)-1]
}

// valueOf returns a value whose type was forgotten: as it is kept by a run, or as it was observed.
func valueOf[V any](value any) (V, bool) {
	if kept, ok := value.(*V); ok {
		return *kept, true
	}
	v, ok := value.(V)
	return v, ok
}

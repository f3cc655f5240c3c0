// SPDX-License-Identifier: Apache-2.0

package workflow

import (
	"errors"
	"fmt"
	"runtime/debug"
)

// Answer is what a condition of a node has answered in a run.
type Answer struct {
	// Condition is the name under which it was declared; of the predicate of an edge, "where" and the prerequisite's name.
	Condition string
	Verdict   Verdict
}

// askAll asks conditions of one kind, all of them, and joins what they answer.
func (x *execution[P]) askAll(v int32, conditions []condition[P]) Verdict {
	all := Met()
	for i := range conditions {
		all = all.and(x.askOnce(v, &conditions[i]))
	}
	return all
}

// sharedKey tells the answers of groups' conditions apart: by number, and by the instance that the group stands in.
type sharedKey struct {
	number   int
	instance *instance
}

// askOnce asks a group's condition once for all of its nodes, or for all in the same instance.
func (x *execution[P]) askOnce(v int32, c *condition[P]) Verdict {
	if c.shared == 0 {
		return x.ask(v, c.name, c.holds)
	}
	key := sharedKey{number: c.shared}
	if c.depth > 0 {
		key.instance = x.layout.vertices[v].instance.at(c.depth)
	}
	verdict, known := x.shared[key]
	if known {
		x.note(v, c.name, verdict)
		return verdict
	}
	verdict = x.ask(v, c.name, c.holds)
	if x.shared == nil {
		x.shared = map[sharedKey]Verdict{}
	}
	x.shared[key] = verdict
	return verdict
}

// ask asks one condition that isn't about readiness. A panic, a Broken, no answer at all and an observation that
// couldn't be made are all unknown.
func (x *execution[P]) ask(v int32, name string, holds func(*Run[P]) Verdict) Verdict {
	verdict := x.answered(v, name, holds)
	if verdict.answer == broken {
		verdict = Unknown(fmt.Errorf(
			"condition %q: it answered broken, which only readiness may be: %s", name, verdict.message))
	}
	x.note(v, name, verdict)
	return verdict
}

// askReadiness is ask, but readiness may be broken.
func (x *execution[P]) askReadiness(v int32, rule *readiness[P], value any) Verdict {
	verdict := x.answered(v, rule.name, func(r *Run[P]) Verdict { return rule.holds(r, value) })
	x.note(v, rule.name, verdict)
	return verdict
}

// predicate is that of an edge between two vertices. What it has answered is remembered once a wait in a circle has
// been found, since then edges are looked at more than once.
type predicate struct{ from, to, edge int32 }

func (x *execution[P]) askPredicate(v int32, a arc) Verdict {
	e, which := &x.node(v).edges[a.edge], predicate{v, a.to, a.edge}
	if known, ok := x.predicates[which]; ok {
		return known
	}
	verdict := x.ask(v, "where "+e.to.name, func(r *Run[P]) Verdict {
		placed := r.elsewhere(&elsewhere[P]{repeat: e.to.scope.repeat, path: x.layout.vertices[a.to].path()})
		placed.executing = true // what the edge leads to has settled
		return e.to.veil(e.holds(placed))
	})
	if verdict.answer == unmet && x.row(v).Reason == "" {
		x.row(v).judged("", verdict) // the prerequisite is ready: only this says what is amiss
	}
	if x.predicates != nil {
		x.predicates[which] = verdict
	}
	return verdict
}

func (x *execution[P]) answered(v int32, name string, holds func(*Run[P]) Verdict) (verdict Verdict) {
	view := x.view(v)
	view.unseen = nil
	defer func() {
		if p := recover(); p != nil {
			verdict = Unknown(x.panicked(x.node(v), p, debug.Stack()))
		}
		if view.unseen != nil {
			verdict = Unknown(view.unseen)
		}
		verdict = x.node(v).veil(verdict)
		if verdict.answer == unknown {
			verdict.err = fmt.Errorf("condition %q: %w", name, verdict.Err())
		}
	}()
	return holds(view)
}

// note keeps what a condition of v has answered.
func (x *execution[P]) note(v int32, name string, verdict Verdict) {
	row := x.row(v)
	row.Verdicts = append(row.Verdicts, Answer{name, verdict})
}

// inline calls a function of v's resource on the run's goroutine. A panic is its error; so is what it couldn't observe
// of its own, which is no absence.
func inline[P, O any](x *execution[P], v int32, call func(r *Run[P]) (O, error)) (out O, err error) {
	view := x.view(v)
	view.unseen = nil
	defer x.endInline(v, &err)
	return call(view)
}

// endInline is to be deferred.
func (x *execution[P]) endInline(v int32, err *error) {
	if p := recover(); p != nil {
		*err = x.panicked(x.node(v), p, debug.Stack())
	}
	if *err == nil {
		*err = x.views[v].unseen
	}
	if *err != nil {
		*err = x.node(v).veiled(*err)
	}
}

// panicked tells the observer, and returns the panic of a function of n as its error. n is nil for a check.
func (x *execution[P]) panicked(n *node[P], value any, stack []byte) error {
	at := NodeID{Primary: x.subject.ID}
	if n != nil {
		at.Node = n.name
		if _, mistake := errors.AsType[misuse](asError(value)); n.secret && !mistake {
			value = hidden
		}
	}
	if _, ok := value.(misuse); !ok && x.runner.options.Observer != nil {
		x.runner.options.Observer.Panicked(x.ctx, at, value, stack)
	}
	return caught(value, stack)
}

func asError(value any) error {
	err, _ := value.(error)
	return err
}

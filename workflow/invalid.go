// SPDX-License-Identifier: Apache-2.0

package workflow

import (
	"errors"
	"runtime/debug"
	"time"
)

// The reasons of a run that touched nothing: the primary isn't valid, or a check of it couldn't find its answer.
const (
	ReasonInvalidSpec = "InvalidSpec"
	ReasonUnchecked   = "Unchecked"
)

// Validate adds a check of the primary that comes before everything else in a reconcile. An error of any check touches
// nothing, and isn't tried again before the primary has changed; all checks are asked. A cleanup asks none. If a check
// looks up what can't be observed, nothing is touched either, but it is asked again soon.
func (b *Builder[P]) Validate(check func(r *Run[P]) error) *Builder[P] {
	if b.graph.built {
		b.graph.late = append(b.graph.late, "(a check)")
	}
	b.graph.checks = append(b.graph.checks, check)
	return b
}

// validate asks all checks and joins their errors. It is terminal, unless a check couldn't find its answer.
func (x *execution[P]) validate() error {
	var errs []error
	unseen := false
	for _, check := range x.runner.workflow.checks {
		view := Run[P]{x: x, vertex: nobody}
		err := x.check(check, &view)
		if view.unseen != nil {
			err, unseen = view.unseen, true
		}
		errs = append(errs, err)
	}
	if unseen {
		return errors.Join(errs...)
	}
	return Terminal(errors.Join(errs...))
}

func (x *execution[P]) check(check func(r *Run[P]) error, view *Run[P]) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = x.panicked(nil, p, debug.Stack())
		}
	}()
	return check(view)
}

// refuse leaves every node as it is. Nobody has asked for keys, so that a repeated node has one row, without any.
func (x *execution[P]) refuse(why error) *Result {
	reason, message, recheck := ReasonInvalidSpec, "the primary isn't valid", time.Duration(0)
	if !IsTerminal(why) {
		reason, message = ReasonUnchecked, "it isn't known whether the primary is valid"
		recheck = Backoff{First: grace}.delay(1, x.runner.options.Jitter())
	}
	nodes := x.runner.workflow.nodes
	x.out = make([]NodeResult, len(nodes))
	for i, n := range nodes {
		x.out[i] = NodeResult{Name: n.name, State: Blocked, Reason: reason, Message: message, Recheck: recheck}
	}
	return x.result(why)
}

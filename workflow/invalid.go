// SPDX-License-Identifier: Apache-2.0

package workflow

import (
	"errors"
	"runtime/debug"
)

// ReasonInvalidSpec is the reason of a run that touched nothing, since the primary isn't valid.
const ReasonInvalidSpec = "InvalidSpec"

// Validate adds a check of the primary that comes before everything else in a reconcile. An error of any check touches
// nothing, and isn't tried again before the primary has changed; all checks are asked. A cleanup asks none.
func (b *Builder[P]) Validate(check func(r *Run[P]) error) *Builder[P] {
	b.graph.checks = append(b.graph.checks, check)
	return b
}

// validate asks all checks and joins their errors.
func (x *execution[P]) validate() error {
	var errs []error
	for _, check := range x.runner.workflow.checks {
		errs = append(errs, x.check(check))
	}
	return Terminal(errors.Join(errs...))
}

func (x *execution[P]) check(check func(r *Run[P]) error) (err error) {
	view := Run[P]{x: x, vertex: nobody}
	defer func() {
		if p := recover(); p != nil {
			err = x.panicked(nil, p, debug.Stack())
		}
		if view.unseen != nil {
			err = view.unseen
		}
	}()
	return check(&view)
}

// refuse leaves every node as it is. Nobody has asked for keys, so that a repeated node has one row, without any.
func (x *execution[P]) refuse(why error) *Result {
	nodes := x.runner.workflow.nodes
	x.out = make([]NodeResult, len(nodes))
	for i, n := range nodes {
		x.out[i] = NodeResult{
			Name: n.name, State: Blocked, Reason: ReasonInvalidSpec, Message: "the primary isn't valid",
		}
	}
	return x.result(why)
}

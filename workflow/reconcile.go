// SPDX-License-Identifier: Apache-2.0

package workflow

import (
	"context"
	"errors"
)

// startReconcile checks the edges of a wanted vertex, then its gate, then prepares it.
func (x *execution[P]) startReconcile(v int32) (settled bool) {
	if x.cannotStart(v) {
		return true
	}
	row := &x.out[v]
	x.views[v].executing = true
	switch verdict := x.askAll(v, x.node(v).hold); verdict.answer {
	case met:
	case unmet:
		row.judged(Waiting, verdict)
		return true
	default:
		x.unanswered(v, "GateUnknown", verdict)
		return true
	}
	step, err := inline(x, v, x.resource(v).prepare)
	if err != nil {
		x.refused(v, preparation, err)
		return true
	}
	if step.Do == nil {
		x.reconciled(v, Outcome[any]{Value: step.Value, Ready: step.Ready})
		return true
	}
	if x.mustRest(v, step.Intent) {
		return true
	}
	failed := func(err error) { x.erred(v, step.Intent, err) }
	x.launch(v, func(ctx context.Context) func() {
		o, err := execute(ctx, x, v, step.Do, func(o Outcome[any]) Operation { return o.Operation })
		if err != nil {
			return func() { failed(err) }
		}
		return func() { x.reconciled(v, o) }
	}, failed)
	return false
}

// cannotStart reports whether an edge of v isn't satisfied, and fills in its row if so.
func (x *execution[P]) cannotStart(v int32) bool {
	why, unknown := x.unsatisfied(v)
	switch {
	case unknown != nil:
		x.unanswered(v, "EdgeUnknown", Unknown(unknown))
	case why != nil:
		x.blame(v, Blocked, why)
	default:
		return false
	}
	return true
}

// unsatisfied returns the root causes of all edges of v that aren't satisfied, or nil; and the error of predicates that
// are unknown.
func (x *execution[P]) unsatisfied(v int32) (why *causes, unknown error) {
	for _, a := range x.layout.prerequisites[v] {
		if x.waitsFor(a) && !x.cells[a.to].settled {
			continue // only where v can't wait for it any longer: see untangle
		}
		satisfied, err := x.satisfied(v, a)
		unknown = errors.Join(unknown, err)
		switch {
		case satisfied:
		case a.kind == gone && x.cells[a.to].planned == wanted:
			why = x.merged(why, x.itself(a.to)) // whatever its state: v waits until it isn't wanted
		default:
			why = x.merged(why, x.causesOf(a.to))
		}
	}
	return why, unknown
}

// satisfied reports whether what an arc of v leads to, which has settled, is as the edge wants it.
func (x *execution[P]) satisfied(v int32, a arc) (bool, error) {
	p, isReady := &x.cells[a.to], x.out[a.to].State == Ready
	switch a.kind {
	case optional, loose:
		return isReady || p.planned == unwanted || p.planned == inactive, nil
	case gone:
		return x.isAway(a.to), nil
	case applied:
		return p.applied, nil
	case toCreate:
		return isReady || p.applied && x.existsNow(v) == exists, nil
	case where:
		if !isReady {
			return false, nil
		}
		verdict := x.askPredicate(v, a)
		return verdict.Holds(), verdict.Err()
	default:
		return isReady, nil
	}
}

// isAway reports whether nothing of v is there, or nothing that concerns this run.
func (x *execution[P]) isAway(v int32) bool {
	planned := x.cells[v].planned
	return planned == inactive || planned == unwanted && x.out[v].State == Disabled
}

func (x *execution[P]) askPredicate(v int32, a arc) Verdict {
	e := x.node(v).edges[a.edge]
	verdict := x.ask(v, "where "+e.to.name, func(*Run[P]) Verdict { return e.holds(x.cells[a.to].value) })
	if verdict.answer == unmet {
		x.out[v].judged("", verdict) // the prerequisite is ready: only this says what is amiss
	}
	return verdict
}

// erred tells "not yet" from failures of a Do.
func (x *execution[P]) erred(v int32, intent uint64, err error) {
	if !x.notYet(v, Waiting, err) {
		x.failed(v, intent, err)
	}
}

// notYet fills in the row of a node that can't act for now, and reports whether err says so.
func (x *execution[P]) notYet(v int32, state State, err error) bool {
	wait, ok := errors.AsType[*notYetError](err)
	if !ok {
		return false
	}
	x.succeeded(v)
	row := &x.out[v]
	row.State, row.Reason, row.Message = state, wait.reason, wait.message
	if after, ok := errors.AsType[*retryError](err); ok {
		row.Recheck = soonest(row.Recheck, after.after)
	}
	return true
}

// reconciled judges the readiness of what came back.
func (x *execution[P]) reconciled(v int32, o Outcome[any]) {
	c, row := &x.cells[v], &x.out[v]
	c.value, c.applied = o.Value, true
	row.Operation = o.Operation
	verdict := o.Ready
	if rules := x.node(v).ready; len(rules) > 0 {
		verdict = Met()
		for i := range rules {
			verdict = All(verdict, x.askReadiness(v, &rules[i], o.Value))
		}
	}
	if verdict.answer == unknown {
		x.unanswered(v, "ReadinessUnknown", verdict)
		return
	}
	x.succeeded(v)
	switch verdict.answer {
	case unmet:
		row.judged(NotReady, verdict)
	case broken:
		row.fail(verdict.reason, Terminal(errors.New(verdict.message)))
	default:
		row.State, row.Reason, row.Message = Ready, "", ""
	}
}

// askReadiness is ask, but readiness may be broken.
func (x *execution[P]) askReadiness(v int32, rule *readiness[P], value any) Verdict {
	var answered Verdict
	verdict := x.ask(v, rule.name, func(r *Run[P]) Verdict {
		answered = rule.holds(r, value)
		return answered
	})
	if answered.answer == broken && x.views[v].unseen == nil {
		return answered
	}
	return verdict
}

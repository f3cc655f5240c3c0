// SPDX-License-Identifier: Apache-2.0

package workflow

import "errors"

// startReconcile prepares a wanted vertex, if nothing keeps it from that. It reports whether v has its state; otherwise
// its Do is running, or is to run.
func (x *execution[P]) startReconcile(v int32) bool {
	at := &x.layout.vertices[v]
	if x.isKept(v, at) {
		return true
	}
	step := &x.step
	err := x.prepare(v, step)
	if err == nil && step.claims != nil {
		err = x.claim(v, step.claims)
	}
	if err != nil {
		x.erred(v, preparation, err)
		return true
	}
	x.cells[v].intent = step.intent
	switch {
	case step.run == nil:
		x.reconciled(v, step, None)
		return true
	case x.dry:
		return x.preview(v, reconciling)
	case x.mustRest(v, step.intent):
		return true
	}
	f := x.newFlight(v, reconciling)
	f.step = *step
	if !at.traits.has(rollsOut) || !x.park(f) {
		x.launch(f)
	}
	return false
}

// isKept reports whether v can't be prepared now, and fills in its row if so: first its edges count, then its gate,
// then whether it rests after a failure, or what it reads can't be told.
func (x *execution[P]) isKept(v int32, at *vertex[P]) bool {
	if x.marks[v].doubtful && x.cannotStart(v) {
		return true
	}
	x.view(v).executing = true
	if at.traits.has(holdsBack) && x.isHeldBack(v, at.node) || x.mustRest(v, preparation) {
		return true
	}
	if !x.cleanup {
		return false
	}
	err := x.computeFor(v)
	if err != nil {
		x.erred(v, preparation, err)
	}
	return err != nil
}

// prepare is inline, without a closure for every vertex.
func (x *execution[P]) prepare(v int32, into *prepared) (err error) {
	view := x.view(v)
	view.unseen = nil
	defer x.endInline(v, &err)
	return x.resource(v).prepare(view, into)
}

// isHeldBack asks the gates.
func (x *execution[P]) isHeldBack(v int32, n *node[P]) bool {
	switch verdict := x.askAll(v, n.hold); verdict.answer {
	case met:
		return false
	case unmet:
		x.row(v).judged(Waiting, verdict)
	default:
		x.unanswered(v, "GateUnknown", verdict)
	}
	return true
}

// cannotStart reports whether an edge of v isn't satisfied, and fills in its row if so.
func (x *execution[P]) cannotStart(v int32) bool {
	why, unknown := x.unsatisfied(v)
	if x.cleanup {
		why = x.merged(why, x.holders(v))
	}
	switch {
	case unknown != nil:
		x.unanswered(v, "EdgeUnknown", Unknown(unknown))
	case why != nil:
		x.blame(v, Blocked, why)
		if x.dry {
			x.unplanned(v)
		}
	default:
		return false
	}
	return true
}

// unsatisfied returns the root causes of all edges of v that aren't satisfied, or nil; and the error of predicates that
// are unknown.
func (x *execution[P]) unsatisfied(v int32) (why *causes, unknown error) {
	quorums := x.traits(v).has(quorate)
	for _, a := range x.layout.prerequisites.of(v) {
		if quorums && a.bundled && x.node(v).quorate(x.node(v).edges[a.edge]) {
			continue
		}
		if x.cleanup && !x.traits(a.to).has(atCleanup) {
			continue
		}
		causes, err := x.unsatisfiedEdge(v, a)
		why, unknown = x.merged(why, causes), errors.Join(unknown, err)
	}
	if quorums && !x.cleanup {
		causes, err := x.unsatisfiedQuorums(v)
		why, unknown = x.merged(why, causes), errors.Join(unknown, err)
	}
	return why, unknown
}

// unsatisfiedEdge is about a single arc.
func (x *execution[P]) unsatisfiedEdge(v int32, a arc) (why *causes, unknown error) {
	p := &x.marks[a.to]
	if a.waitsFor(p.planned) && !p.settled {
		return nil, nil // only where v can't wait for it any longer: see untangle
	}
	satisfied, err := x.satisfied(v, a)
	switch {
	case satisfied:
		return nil, err
	case a.kind == gone && p.planned == wanted:
		return x.itself(a.to), err // whatever its state: v waits until it isn't wanted
	default:
		return x.causesOf(a.to), err
	}
}

// satisfied reports whether what an arc of v leads to, which has settled, is as the edge wants it.
func (x *execution[P]) satisfied(v int32, a arc) (bool, error) {
	p := &x.marks[a.to]
	switch {
	case a.kind == gone:
		return x.isAway(v, a), nil
	case p.changes:
		return false, nil
	case p.planned != wanted && p.planned != undecided: // the edge vanishes, or leaves this instance out
		return true, nil
	case a.kind == where && p.ready && !x.cleanup:
		verdict := x.askPredicate(v, a)
		return verdict.Holds(), verdict.Err()
	default:
		return p.ready || p.applied && !x.cleanup && x.isEnough(v, a.kind), nil
	}
}

// isEnough reports whether an edge of v needs its prerequisite to be reconciled only.
func (x *execution[P]) isEnough(v int32, kind edgeKind) bool {
	return kind == applied || kind == toCreate && x.existsNow(v) == exists
}

// isAway reports whether nothing is left of what a Gone edge of v leads to, or nothing that concerns this run.
func (x *execution[P]) isAway(v int32, a arc) bool {
	planned := x.marks[a.to].planned
	switch {
	case x.node(v).edges[a.edge].implied: // the head of a Repeat: only whether its keys are known
		return planned != undecided
	case planned == inactive || planned == dormant:
		return true
	default:
		return planned == unwanted && x.row(a.to).State == Disabled
	}
}

// erred tells "not yet" and the end of the run from failures.
func (x *execution[P]) erred(v int32, intent uint64, err error) {
	switch ended := x.ctx.Err(); {
	case x.notYet(v, intent, err):
	case ended != nil && errors.Is(err, ended): // it didn't fail, it was cut short
		x.row(v).fail(reasonCancelled, err)
	default:
		x.failed(v, intent, err)
	}
}

// notYet fills in the row of a node that can't act for now, and reports whether err says so.
func (x *execution[P]) notYet(v int32, intent uint64, err error) bool {
	wait, ok := errors.AsType[*notYetError](err)
	if !ok {
		return false
	}
	x.forget(v, kindOfFailure(intent))
	row, state := x.row(v), Waiting
	if x.marks[v].planned == unwanted {
		state = Deleting
	}
	row.State, row.Reason, row.Message = state, wait.reason, wait.message
	if after, ok := errors.AsType[*retryError](err); ok {
		row.Recheck = soonest(row.Recheck, after.after)
	}
	return true
}

// keepStep keeps what is needed of a step beyond the vertex's own turn.
func (x *execution[P]) keepStep(v int32, step *prepared) {
	c := &x.cells[v]
	c.value = step.value
	if step.prune != nil && !x.cleanup && !x.dry {
		c.prune, x.prunes = step.prune, true
	}
}

// readiness is what the node's own rules say, or else its kind's.
func (x *execution[P]) readiness(v int32, step *prepared) *Verdict {
	if !x.traits(v).has(judges) {
		return &step.ready
	}
	all := Met()
	for i, rules := 0, x.node(v).ready; i < len(rules); i++ {
		all = all.and(x.askReadiness(v, &rules[i], step.value))
	}
	return &all
}

// reconciled judges the readiness of what came back.
func (x *execution[P]) reconciled(v int32, step *prepared, operation Operation) {
	m, row := &x.marks[v], x.row(v)
	m.applied = true
	x.keepStep(v, step)
	if operation != None || step.poll != 0 || step.drift != "" { // most rows needn't be touched beyond their beginning
		row.Operation, row.Poll, row.Drift = operation, step.poll, step.drift
	}
	verdict := x.readiness(v, step)
	if verdict.answer == unknown {
		if verdict.err == nil {
			verdict.err = errNotJudged
		}
		x.unanswered(v, "ReadinessUnknown", *verdict)
		return
	}
	x.succeeded(v)
	switch verdict.answer {
	case unmet:
		row.judged(NotReady, *verdict)
	case broken:
		row.fail(verdict.reason, Terminal(errors.New(verdict.message)))
	default:
		row.State, m.ready = Ready, true
		if row.Reason != "" {
			row.Reason, row.Message = "", ""
		}
		if x.cleanup && x.traits(v).has(manages) { // what it has let go may not come back
			x.remembered().ended[x.identity(v)] = true
		}
	}
}

// SPDX-License-Identifier: Apache-2.0

package workflow

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// episode is what is remembered of a node that isn't ready: since when, and whether its failure was answered. It ends
// when the node is ready, or when the primary's revision changes.
type episode struct {
	since    time.Time
	revision int64
	answered bool // OnFailure has run
}

// conclude is called when v has its state, before it settles. It fails what has taken too long, and answers a failure
// for good; then it isn't settled before that answer has landed.
func (x *execution[P]) conclude(v int32) (settled bool) {
	n, row := x.node(v), &x.out[v]
	switch {
	case n.deadline == 0 && n.onFailure == nil, row.Reason == reasonCancelled:
		return true
	case x.cells[v].planned != wanted, row.State == Ready, row.State == Blocked:
		x.memory.endEpisode(v)
		return true
	}
	e := x.episode(v)
	x.expect(v, e)
	if n.onFailure == nil || e.answered || row.State != Failed || !IsTerminal(row.Err) {
		return true
	}
	x.answer(v, e)
	return false
}

// episode returns the present one of v, and begins one if there is none.
func (x *execution[P]) episode(v int32) *episode {
	m := x.remembered()
	e := m.episodes[v]
	if e == nil || e.revision != x.subject.Revision {
		e = &episode{since: time.Now(), revision: x.subject.Revision}
		m.episodes[v] = e
	}
	return e
}

// expect fails v if it hasn't been ready for longer than its deadline; else it asks for a run when that is reached.
func (x *execution[P]) expect(v int32, e *episode) {
	deadline, row := x.node(v).deadline, &x.out[v]
	if deadline == 0 || row.State == Failed && IsTerminal(row.Err) {
		return
	}
	left := deadline - time.Since(e.since)
	if left > 0 {
		row.Recheck = soonest(row.Recheck, left)
		return
	}
	last := row.Message
	row.fail("ProgressDeadlineExceeded", Terminal(fmt.Errorf("it hasn't become ready within %v: %s", deadline, last)))
}

// answer runs OnFailure beside other nodes. Its own error stands beside the first, and the next run tries again.
func (x *execution[P]) answer(v int32, e *episode) {
	row, cause := &x.out[v], x.out[v].Err
	x.cells[v].answering = true
	failed := func(err error) {
		row.Err = errors.Join(cause, fmt.Errorf("answering the failure: %w", err))
		row.Message = row.Err.Error()
		row.RetryAfter = x.node(v).backoff.delay(1, x.runner.options.Jitter())
	}
	x.launch(v, func(ctx context.Context) func() {
		_, err := execute(ctx, x, v, func(ctx context.Context) (Operation, error) {
			return None, x.node(v).onFailure(ctx, &x.views[v], cause)
		}, func(o Operation) Operation { return o })
		if err != nil {
			return func() { failed(err) }
		}
		return func() { e.answered = true }
	}, failed)
}

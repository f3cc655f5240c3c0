// SPDX-License-Identifier: Apache-2.0

package workflow

import (
	"errors"
	"fmt"
	"time"
)

// episode is what is remembered of a node that isn't ready: since when, and whether its failure was answered. It ends
// when the node is ready, or when the primary's revision changes.
type episode struct {
	since    time.Time // zero while it is Blocked
	revision int64
	answered bool // OnFailure has run
}

// conclude is called when v has its state. It fails what has taken too long, and answers a failure for good; then v
// settles once that answer has landed, otherwise now.
func (x *execution[P]) conclude(v int32) {
	ended := x.ctx.Err() != nil // then nothing new is started
	if !x.traits(v).has(concludes) || x.dry || x.row(v).Reason == reasonCancelled || !x.mustAnswer(v) || ended {
		x.settle(v)
		return
	}
	f := x.newFlight(v, answering)
	f.cause = x.row(v).Err
	x.launch(f)
}

// mustAnswer reports whether the failure of v is to be answered now.
func (x *execution[P]) mustAnswer(v int32) bool {
	n, row := x.node(v), x.row(v)
	if x.marks[v].planned != wanted || row.State == Ready {
		x.endEpisode(v)
		return false
	}
	e := x.episode(v)
	if row.State == Blocked { // it isn't its own time that passes
		e.since = time.Time{}
		return false
	}
	if e.since.IsZero() {
		e.since = time.Now()
	}
	x.expect(v, e)
	return n.onFailure != nil && !e.answered && row.State == Failed && IsTerminal(row.Err)
}

// endEpisode forgets since when v isn't ready. What isn't wanted has no episode either.
func (x *execution[P]) endEpisode(v int32) {
	if x.memory != nil && !x.dry {
		delete(x.memory.episodes, x.identity(v))
	}
}

// episode returns the present one of v, and begins one if there is none.
func (x *execution[P]) episode(v int32) *episode {
	m := x.remembered()
	which := x.identity(v)
	e := m.episodes[which]
	if e == nil || e.revision != x.subject.Revision {
		e = &episode{revision: x.subject.Revision}
		m.episodes[which] = e
	}
	return e
}

// expect fails v if it hasn't been ready for longer than its deadline; else it asks for a run when that is reached.
func (x *execution[P]) expect(v int32, e *episode) {
	deadline, row := x.node(v).deadline, x.row(v)
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

// hear takes in what OnFailure has come to. Its own error stands beside the first, and the next run tries again.
func (x *execution[P]) hear(f *flight[P]) {
	if f.err == nil {
		x.episode(f.vertex).answered = true
		return
	}
	row := x.row(f.vertex)
	row.Err = errors.Join(f.cause, fmt.Errorf("answering the failure: %w", f.err))
	row.Message = row.Err.Error()
	row.RetryAfter = x.node(f.vertex).backoff.delay(1, x.runner.options.Jitter())
}

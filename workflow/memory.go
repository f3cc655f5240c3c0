// SPDX-License-Identifier: Apache-2.0

package workflow

import (
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"
)

// memories holds what a Runner remembers, by the primary's identity. All of it are hints: losing them costs time only.
type memories struct {
	mutex sync.Mutex
	of    map[string]*memory
}

// memory is what is remembered of one primary. Only the run of that primary uses it.
type memory struct {
	failures map[failing]*failure
	episodes map[identified]*episode
	ended    map[identified]bool // of nodes that exist only in cleanup: they were ready, and are being deleted
}

func newMemory() *memory {
	return &memory{map[failing]*failure{}, map[identified]*episode{}, map[identified]bool{}}
}

// failing is what of a node has failed. Each of these is retried by itself: a question that can't be answered for a
// while doesn't end the rest of an execution that failed.
type failing struct {
	identified
	kind failureKind
}

type failureKind uint8

const (
	executing failureKind = iota
	preparing
	asking
	deleting
	clearing // what the node has left: it may stand all the same
)

func kindOfFailure(intent uint64) failureKind {
	switch intent {
	case preparation:
		return preparing
	case question:
		return asking
	case deletion:
		return deleting
	case clearance:
		return clearing
	default:
		return executing
	}
}

// failure is what is remembered of it.
type failure struct {
	err      error
	attempts int
	intent   uint64 // what it wanted; 0 if that isn't known
	inputs   uint64 // of a failed preparation: what its prerequisites wanted
	revision int64
	until    time.Time // zero: not before intent or revision change
}

func (m *memories) get(id string) *memory {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	return m.of[id]
}

func (m *memories) put(id string, of *memory) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.of[id] = of
}

func (m *memories) drop(id string) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	delete(m.of, id)
}

// remembered returns the memory of the primary, and makes one if there is none.
func (x *execution[P]) remembered() *memory {
	if x.memory == nil {
		x.memory = newMemory()
		x.runner.memories.put(x.subject.ID, x.memory)
	}
	return x.memory
}

// forgetGone forgets what is remembered of instances that this run hasn't: their keys are neither wanted nor there.
func (x *execution[P]) forgetGone() {
	if x.memory == nil || x.layout.base == nil {
		return
	}
	gone := func(which identified) bool {
		n := x.runner.workflow.nodes[which.node]
		if n.depth() == 0 || which.key == "" && x.layout.unlisted[n] != nil {
			return false
		}
		path, ok := split(which.key, n.depth())
		return !ok || x.layout.find(n, path) == nobody
	}
	maps.DeleteFunc(x.memory.failures, func(which failing, _ *failure) bool { return gone(which.identified) })
	maps.DeleteFunc(x.memory.episodes, func(which identified, _ *episode) bool { return gone(which) })
}

// resting returns why v must not be executed now: its last execution failed, and since then neither its delay has
// passed nor has what it wants changed, or, if that couldn't be worked out, what its prerequisites want.
func (x *execution[P]) resting(v int32, intent uint64) *failure {
	if x.memory == nil {
		return nil
	}
	f := x.memory.failures[failing{x.identity(v), kindOfFailure(intent)}]
	if f == nil || f.isOver(intent, x.subject.Revision) {
		return nil
	}
	if intent == preparation && f.inputs != x.inputs(v) {
		return nil
	}
	return f
}

// isOver reports whether another attempt may be made, as far as the failure itself tells.
func (f *failure) isOver(intent uint64, revision int64) bool {
	return f.isOfAnother(intent, revision) || !f.until.IsZero() && !time.Now().Before(f.until)
}

// isOfAnother reports whether what is wanted has changed since. Where an intent tells that, the revision of the primary
// counts only after a failure for good.
func (f *failure) isOfAnother(intent uint64, revision int64) bool {
	told := intent != preparation && intent != question && intent != unknownIntent
	return f.intent != intent || f.revision != revision && (!told || f.until.IsZero())
}

// inputs is a digest of what the prerequisites of v want. One that manages nothing wants what its own do. It is FNV-1a
// over words.
func (x *execution[P]) inputs(v int32) uint64 {
	digest := uint64(14695981039346656037)
	for _, a := range x.layout.prerequisites.of(v) {
		c := &x.cells[a.to]
		if c.intent == 0 && !x.traits(a.to).has(manages) {
			c.intent = x.inputs(a.to)
		}
		digest = (digest ^ c.intent) * 1099511628211
	}
	return digest
}

// The intents under which failures are remembered that aren't of a Do, and of one whose intent isn't known.
const (
	unknownIntent = 0
	clearance     = ^uint64(0) - 3
	preparation   = ^uint64(0) - 2
	question      = ^uint64(0) - 1
	deletion      = ^uint64(0)
)

// mustRest reports whether v must not be executed now, and fills in its row if so.
func (x *execution[P]) mustRest(v int32, intent uint64) bool {
	if x.isHung(v) {
		return true
	}
	f := x.resting(v, intent)
	if f != nil {
		x.rest(v, f)
	}
	return f != nil
}

// isHung reports whether an abandoned execution of v hasn't returned yet, and fills in its row if so.
func (x *execution[P]) isHung(v int32) bool {
	if x.dry || !x.runner.hung.any() || !x.runner.hung.has(x.identity(v)) {
		return false
	}
	row := x.row(v)
	row.fail(reasonTimedOut, errors.New("an earlier execution was abandoned and hasn't returned yet"))
	row.RetryAfter = grace
	return true
}

// unanswered fails v since a question couldn't be answered. It is asked again in every run, and at the latest after its
// delay.
func (x *execution[P]) unanswered(v int32, reason string, verdict Verdict) {
	x.refused(v, question, Because(reason, verdict.Err()))
	x.row(v).Recheck = soonest(x.row(v).Recheck, verdict.recheck)
}

// refused records a failure that costs nothing to find out, and so is found out in every run: unless it is of another
// nature than the one before, it neither counts as another attempt nor puts off the next.
func (x *execution[P]) refused(v int32, intent uint64, err error) {
	if x.notYet(v, intent, err) {
		return
	}
	f := x.resting(v, intent)
	switch {
	case f == nil, IsTerminal(err) != IsTerminal(f.err) && !x.node(v).backoff.exhausted(f.attempts):
		x.failed(v, intent, err)
		return
	case !x.node(v).backoff.exhausted(f.attempts):
		f.err = err
	}
	x.rest(v, f)
}

// failed records a failure of v and fills in its row.
func (x *execution[P]) failed(v int32, intent uint64, err error) {
	m := x.remembered()
	which := failing{x.identity(v), kindOfFailure(intent)}
	f := m.failures[which]
	if f == nil || f.isOfAnother(intent, x.subject.Revision) {
		f = &failure{intent: intent}
		m.failures[which] = f
	}
	f.revision = x.subject.Revision
	if intent == preparation {
		f.inputs = x.inputs(v)
	}
	f.attempts++
	spacing := x.node(v).backoff
	if spacing.exhausted(f.attempts) {
		err = Terminal(fmt.Errorf("%w (failed %d times: it isn't tried again)", err, f.attempts))
	}
	f.err, f.until = err, time.Time{}
	if !IsTerminal(err) {
		delay := spacing.delay(f.attempts, x.runner.options.Jitter())
		if given, ok := errors.AsType[*retryError](err); ok {
			delay = given.after
		}
		f.until = time.Now().Add(delay)
	}
	x.rest(v, f)
}

// rest fills in the row of a node that failed and isn't executed now.
func (x *execution[P]) rest(v int32, f *failure) {
	row := x.row(v)
	row.fail("Error", f.err)
	row.Attempts = f.attempts
	if !f.until.IsZero() {
		row.RetryAfter = max(time.Until(f.until), time.Millisecond)
	}
}

// succeeded forgets the failures of v, but for those of clearing up.
func (x *execution[P]) succeeded(v int32) {
	for kind := executing; x.memory != nil && len(x.memory.failures) > 0 && kind <= deleting; kind++ {
		x.forget(v, kind)
	}
}

func (x *execution[P]) forget(v int32, kind failureKind) {
	if x.memory != nil {
		delete(x.memory.failures, failing{x.identity(v), kind})
	}
}

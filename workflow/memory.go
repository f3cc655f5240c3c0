// SPDX-License-Identifier: Apache-2.0

package workflow

import (
	"errors"
	"fmt"
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
	failures map[int32]*failure
	episodes map[int32]*episode
}

// failure is what is remembered of a node whose last execution failed.
type failure struct {
	err      error
	attempts int
	intent   uint64 // what it wanted; 0 if that isn't known
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
		x.memory = &memory{failures: map[int32]*failure{}, episodes: map[int32]*episode{}}
		x.runner.memories.put(x.subject.ID, x.memory)
	}
	return x.memory
}

// endEpisode may be called on nothing.
func (m *memory) endEpisode(v int32) {
	if m != nil {
		delete(m.episodes, v)
	}
}

// resting returns why v must not be executed now: its last execution failed, and since then neither its delay has
// passed nor has what it wants changed.
func (x *execution[P]) resting(v int32, intent uint64) *failure {
	if x.memory == nil {
		return nil
	}
	f := x.memory.failures[v]
	switch {
	case f == nil, f.intent != intent, f.revision != x.subject.Revision:
		return nil
	case !f.until.IsZero() && !time.Now().Before(f.until):
		return nil
	default:
		return f
	}
}

// mustRest reports whether v must not be executed now, and fills in its row if so.
func (x *execution[P]) mustRest(v int32, intent uint64) bool {
	if x.runner.hung.has(x.subject.ID, v) {
		row := &x.out[v]
		row.fail(reasonTimedOut, errors.New("an earlier execution was abandoned and hasn't returned yet"))
		row.RetryAfter = grace
		return true
	}
	f := x.resting(v, intent)
	if f != nil {
		x.rest(v, f)
	}
	return f != nil
}

// failed records a failure of v and fills in its row.
func (x *execution[P]) failed(v int32, intent uint64, err error) {
	m := x.remembered()
	f := m.failures[v]
	if f == nil || f.intent != intent || f.revision != x.subject.Revision {
		f = &failure{intent: intent, revision: x.subject.Revision}
		m.failures[v] = f
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
	row := &x.out[v]
	row.fail("Error", f.err)
	row.Attempts = f.attempts
	if !f.until.IsZero() {
		row.RetryAfter = max(time.Until(f.until), time.Millisecond)
	}
}

// succeeded forgets the failures of v.
func (x *execution[P]) succeeded(v int32) {
	if x.memory != nil {
		delete(x.memory.failures, v)
	}
}

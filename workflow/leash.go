// SPDX-License-Identifier: Apache-2.0

package workflow

import (
	"context"
	"sync"
	"time"
)

// leash is the context of one execution: the run's, with an end of its own. The run's goroutine ends it, so that
// thousands of executions need one timer, and no goroutine to watch for the end of the run.
type leash struct {
	run    context.Context //nolint:containedctx // it is a context itself
	origin time.Time
	until  time.Duration // after the origin

	mutex sync.Mutex
	done  chan struct{} // made when first asked for
	after map[*func()]struct{}
	err   error
}

func (l *leash) Deadline() (time.Time, bool) {
	until := l.origin.Add(l.until)
	if run, ok := l.run.Deadline(); ok && run.Before(until) {
		return run, true
	}
	return until, true
}

func (l *leash) Done() <-chan struct{} {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if l.done == nil {
		l.done = make(chan struct{})
		if l.err != nil {
			close(l.done)
		}
	}
	return l.done
}

func (l *leash) Err() error {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.err
}

func (l *leash) Value(key any) any { return l.run.Value(key) }

// AfterFunc is how the package context asks not to need a goroutine for each context that is derived from this one.
func (l *leash) AfterFunc(call func()) (stop func() bool) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if l.err != nil {
		go call()
		return func() bool { return false }
	}
	if l.after == nil {
		l.after = map[*func()]struct{}{}
	}
	key := &call
	l.after[key] = struct{}{}
	return func() bool {
		l.mutex.Lock()
		defer l.mutex.Unlock()
		_, waits := l.after[key]
		delete(l.after, key)
		return waits
	}
}

// end ends the context, unless it has ended.
func (l *leash) end(err error) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if l.err != nil {
		return
	}
	l.err = err
	if l.done != nil {
		close(l.done)
	}
	for call := range l.after {
		go (*call)()
	}
	l.after = nil
}

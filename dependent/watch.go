// SPDX-License-Identifier: Apache-2.0

package dependent

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// listener is who hears what happens to objects.
type listener struct {
	ctx        context.Context //nolint:containedctx // its end is that of every watch that begins later
	changed    func(primary types.UID)
	everything func()
}

// Watch tells of every primary of which an object, or one that it refers to, appears, changes or vanishes, until ctx
// ends, by its UID; it calls everything when a kind can be read that somebody would have read before: then any run
// may come to another result. Both must be quick. Kinds that aren't served, or that the operator may not list, are
// opened when that changes. It returns at once, see [Engine.WaitForSync], and must not be called twice.
func (e *Engine) Watch(ctx context.Context, changed func(primary types.UID), everything func()) {
	l := &listener{ctx: ctx, changed: changed, everything: everything}
	e.mutex.Lock()
	e.listener.Store(l)
	e.mutex.Unlock()
	for _, s := range e.all() {
		go s.keep(l)
	}
}

// WaitForSync waits until every kind that can be read is in the cache. Kinds that aren't served, or that the operator
// may not list, aren't waited for, nor those of other clusters.
func (e *Engine) WaitForSync(ctx context.Context) error {
	for _, s := range e.all() {
		if s.cluster == "" {
			_ = s.wait(ctx, suspense) // what can't be read fails the nodes that would
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	return nil
}

// Timing of a kind that can't be read.
const (
	glance   = 50 * time.Millisecond // between looks whether a cache has synced, growing
	suspense = 2 * time.Second       // after which one asks why it hasn't
)

// wait waits until the source is open, or returns what speaks against it: after some patience it asks the server.
func (s *source) wait(ctx context.Context, patience time.Duration) error {
	begun := time.Now()
	for rest := glance; ; rest = min(2*rest, time.Second) {
		_, err := s.open(ctx)
		if err == nil || isNotServed(err) || isRefused(err) {
			return err
		}
		if time.Since(begun) > patience {
			if why := s.objection(ctx); why != nil {
				return why
			}
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(rest):
		}
	}
}

// objection returns what speaks against a cache that doesn't sync.
func (s *source) objection(ctx context.Context) error {
	target, err := s.engine.clusterOf(s.cluster)
	if err != nil {
		return err
	}
	return s.refusal(ctx, target)
}

// keep opens the source whenever it can be opened, and notices when it no longer can.
func (s *source) keep(l *listener) {
	begun, haste, patience := time.Now(), s.engine.askAgain, suspense
	for l.ctx.Err() == nil {
		err := s.wait(l.ctx, patience)
		if err == nil || isNotServed(err) {
			haste = s.keepServed(l, err, haste)
			begun, patience = time.Now(), suspense
			continue
		}
		s.trouble.Store(&err)
		patience = s.engine.askAgain // until one asks once more what holds the cache
		s.rest(l.ctx, max(glance, min(time.Since(begun), s.engine.askAgain)))
	}
}

// keepServed tells what has changed, and rests until the kind may have come or gone. It returns in what haste to look
// again.
func (s *source) keepServed(l *listener, err error, haste time.Duration) time.Duration {
	isOpen := err == nil
	if s.wasOpen.Swap(isOpen) != isOpen && s.missed.Swap(false) {
		l.everything()
	}
	mustKnow := !isOpen || s.asked.Load()
	told := mustKnow && s.engine.watchKinds(l.ctx, s)
	rest := haste
	if !mustKnow || told && (isOpen || haste == s.engine.askAgain) {
		rest = 0
	}
	switch nudged := s.rest(l.ctx, rest); {
	case nudged:
		return glance // it may take a moment until what was announced is served
	case isOpen:
		s.doubted.Store(true) // nobody tells
		return haste
	default:
		return min(2*haste, s.engine.askAgain)
	}
}

// nudge makes one look at once whether the kind is served.
func (s *source) nudge() {
	select {
	case s.nudged <- struct{}{}:
	default:
	}
}

// rest waits for a nudge, or for a time if that isn't 0, and reports whether there was a nudge.
func (s *source) rest(ctx context.Context, d time.Duration) bool {
	var over <-chan time.Time
	if d > 0 {
		over = time.After(d)
	}
	select {
	case <-ctx.Done():
		return false
	case <-over:
		return false
	case <-s.nudged:
		return true
	}
}

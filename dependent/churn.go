// SPDX-License-Identifier: Apache-2.0

package dependent

import (
	"hash/maphash"
	"maps"
	"slices"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/espalier-dev/espalier/workflow"
)

// Bounds of what a node may write though nothing has changed that it is written from.
const (
	churnWrites = 5 // effective ones
	churnWindow = 2 * time.Minute
	churnFirst  = 10 * time.Second // that it then waits, doubled each time it goes on
	churnLast   = 10 * time.Minute
)

// churn is what one instance of a node has written lately. The zero value has written nothing.
type churn struct {
	revision uint64 // of the primary
	inputs   uint64 // of the node
	writes   []effect
	delay    time.Duration // 0 unless it has to wait
	until    time.Time
}

// effect is a write that has changed something.
type effect struct {
	at     time.Time
	intent uint64
	drift  string // that it has corrected
}

// note takes in a write.
func (c *churn) note(revision, inputs uint64, e effect) {
	if c.revision != revision || c.inputs != inputs || !c.isGoingOn(e.at) {
		*c = churn{revision: revision, inputs: inputs}
	}
	c.writes = append(c.writes, e)
	if len(c.writes) > churnWrites {
		c.writes = c.writes[1:]
	}
	if len(c.writes) < churnWrites || c.delay == 0 && e.at.Sub(c.writes[0].at) > churnWindow {
		return
	}
	c.delay = min(max(2*c.delay, churnFirst), churnLast)
	c.until = e.at.Add(c.delay)
}

// isGoingOn reports whether a write at this time is of the same churn as those before.
func (c *churn) isGoingOn(at time.Time) bool {
	if len(c.writes) == 0 {
		return true
	}
	quiet := c.writes[len(c.writes)-1].at.Add(c.delay + churnWindow)
	return at.Before(quiet)
}

// objection returns why nothing is to be written now; nil if something may.
func (c *churn) objection(revision, inputs uint64, now time.Time, what string) error {
	if c.delay == 0 || c.revision != revision || c.inputs != inputs || !now.Before(c.until) {
		return nil
	}
	return workflow.RetryAfter(c.cause(what), c.until.Sub(now))
}

func (c *churn) cause(what string) error {
	last := c.writes[len(c.writes)-1]
	same := true
	for _, w := range c.writes {
		same = same && w.intent == last.intent
	}
	if !same {
		return refuse("Unstable", "%s was written %d times within %v though nothing has changed: the desired state differs "+
			"each time: it must depend on the primary and on other nodes alone", what, churnWrites, churnWindow)
	}
	by := "somebody changes or deletes it each time"
	if last.drift != "" {
		by = "others change " + last.drift
	}
	return refuse("Contested", "%s was written %d times within %v to be the same: %s: leave these fields out, ignore "+
		"them with IgnoreFields, or stop the other", what, churnWrites, churnWindow, by)
}

// revisionIn is a digest of what an author's function may read of a primary: its metadata are no part of its
// generation.
func (e *Engine) revisionIn(primary client.Object) uint64 {
	var h maphash.Hash
	h.SetSeed(e.seed)
	maphash.WriteComparable(&h, primary.GetGeneration())
	for _, texts := range []map[string]string{primary.GetLabels(), primary.GetAnnotations()} {
		for _, key := range slices.Sorted(maps.Keys(texts)) {
			_, _ = h.WriteString(key + "=" + texts[key] + "\x00")
		}
		_ = h.WriteByte(1)
	}
	return h.Sum64()
}

// churned notes what a write has changed.
func (w *write[P, T]) churned(out workflow.Outcome[T], drift string) {
	if out.Operation == workflow.None {
		return
	}
	e := w.engine()
	e.mutex.Lock()
	defer e.mutex.Unlock()
	of := e.churns[w.tracking.owner]
	if of == nil {
		of = map[string]*churn{}
		e.churns[w.tracking.owner] = of
	}
	c := of[w.tracking.instance()]
	if c == nil {
		c = &churn{}
		of[w.tracking.instance()] = c
	}
	c.note(w.revision, w.inputs, effect{at: time.Now(), intent: w.intent.digest, drift: abridged(drift)})
}

// calm returns why the node has to wait before it writes again; nil if it needn't.
func (w *write[P, T]) calm() error {
	e := w.engine()
	e.mutex.Lock()
	defer e.mutex.Unlock()
	c := e.churns[w.tracking.owner][w.tracking.instance()]
	if c == nil {
		return nil
	}
	return c.objection(w.revision, w.inputs, time.Now(), w.name())
}

// SPDX-License-Identifier: Apache-2.0

package workflow

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"
)

const (
	defaultTimeout = time.Minute
	// grace is how long a function may take to return once its context has ended. Then the run goes on without it.
	grace = 5 * time.Second
)

// flight is the execution of one vertex's function beside the run, until it lands on the run's goroutine.
type flight[P any] struct {
	leash
	x      *execution[P]
	vertex int32
	task   task
	began  time.Time
	// gone says that the run doesn't wait for it any more, or that it has returned: whoever sets it first decides.
	gone atomic.Bool
	over bool      // its context has ended, and its grace runs
	due  time.Time // when the run has to do something about it

	// What it does, and what came of it.
	step      prepared
	removal   Removal
	preview   Preview
	cause     error // the failure that it answers
	operation Operation
	took      time.Duration
	err       error
}

// task is what a flight is for.
type task uint8

const (
	reconciling task = iota
	removing
	answering
	previewing
)

func (x *execution[P]) newFlight(v int32, t task) *flight[P] {
	return &flight[P]{leash: leash{run: x.ctx}, x: x, vertex: v, task: t}
}

// airspace is what a run has aloft.
type airspace[P any] struct {
	landed   chan *flight[P]
	aloft    []*flight[P]
	boarding []*flight[P] // waiting for one of the Runner's slots
	alarm    *time.Timer
	alarmAt  time.Time
	closed   bool // the run's context has ended
}

func (a *airspace[P]) busy() int { return len(a.aloft) + len(a.boarding) }

// launch executes f beside other vertices, as soon as the Runner has a slot for it.
func (x *execution[P]) launch(f *flight[P]) {
	if x.landed == nil {
		x.landed = make(chan *flight[P], x.runner.options.MaxConcurrent)
	}
	if len(x.boarding) == 0 {
		select {
		case x.runner.slots <- struct{}{}:
			if x.ctx.Err() == nil {
				x.takeOff(f)
				return
			}
			<-x.runner.slots // whoever freed it may have ended the run; the next await ends what is boarding
		default:
		}
	}
	x.boarding = append(x.boarding, f)
}

func (x *execution[P]) takeOff(f *flight[P]) {
	f.began = time.Now()
	f.until = f.began.Add(x.timeout(f.vertex))
	f.due = f.until
	x.aloft = append(x.aloft, f)
	x.setAlarm(f.began, f.due)
	go f.fly()
}

// fly holds a slot until the function returns, or is abandoned.
func (f *flight[P]) fly() {
	f.err = errExited
	defer f.touchDown() // also if the function ends its goroutine
	f.perform()
}

func (f *flight[P]) touchDown() {
	f.took = time.Since(f.began)
	f.end(context.Canceled)
	if f.gone.Swap(true) {
		f.x.runner.hung.remove(f.x.identity(f.vertex))
		return
	}
	<-f.x.runner.slots
	f.x.landed <- f
}

// perform calls the author's code inside the observer's hooks.
func (f *flight[P]) perform() {
	defer f.recovered() // of the observer
	var ctx context.Context = &f.leash
	if observer := f.x.runner.options.Observer; observer != nil {
		at := f.x.nodeID(f.vertex)
		ctx = observer.NodeStarted(ctx, at)
		defer func() { observer.NodeEnded(ctx, at, f.operation, f.err) }()
	}
	f.execute(ctx)
}

func (f *flight[P]) execute(ctx context.Context) {
	defer f.recovered()
	x, v := f.x, f.vertex
	switch f.task {
	case reconciling:
		f.operation, f.err = x.resource(v).do(ctx, &f.step)
	case removing:
		f.removal, f.err = f.removal.Do(ctx)
		f.operation = f.removal.Operation
	case answering: // with a view of its own: an abandoned Do may still use that of the vertex
		f.err = x.node(v).onFailure(ctx, &Run[P]{x: x, vertex: v, executing: true}, f.cause)
		return
	case previewing:
		f.preview, f.err = x.resource(v).unwrap().(dryRunner[P]).DryRun(ctx, &x.views[v])
	}
	if f.err == nil {
		f.err = x.views[v].unseen // an observation that couldn't be made is no absence
	}
	if f.err != nil {
		f.err = x.node(v).veiled(f.err)
	}
}

func (f *flight[P]) recovered() {
	if p := recover(); p != nil {
		f.err = f.x.panicked(f.x.node(f.vertex), p, debug.Stack())
	}
}

// await waits until something happens to what is aloft.
func (x *execution[P]) await() {
	if !x.closed && x.ctx.Err() != nil { // before what is boarding gets a slot
		x.close(time.Now())
		return
	}
	var slots chan<- struct{}
	if len(x.boarding) > 0 {
		slots = x.runner.slots
	}
	var ended <-chan struct{}
	if !x.closed {
		ended = x.ctx.Done()
	}
	var alarm <-chan time.Time
	if x.alarm != nil {
		alarm = x.alarm.C
	}
	select {
	case f := <-x.landed:
		x.down(f)
		x.land(f)
	case slots <- struct{}{}:
		if x.ctx.Err() != nil { // the next await ends what is boarding
			<-x.runner.slots
			return
		}
		f := x.boarding[0]
		x.boarding = x.boarding[1:]
		x.takeOff(f)
	case now := <-alarm:
		x.expire(now)
	case <-ended:
		x.close(time.Now())
	}
}

func (x *execution[P]) down(f *flight[P]) {
	for i, other := range x.aloft {
		if other == f {
			last := len(x.aloft) - 1
			x.aloft[i], x.aloft[last] = x.aloft[last], nil
			x.aloft = x.aloft[:last]
			return
		}
	}
}

// close ends what is aloft with the run, and starts nothing that isn't.
func (x *execution[P]) close(now time.Time) {
	x.closed = true
	for _, f := range x.aloft {
		x.endFlight(f, now, x.ctx.Err())
	}
	for _, f := range x.boarding {
		if f.task != answering { // what it would answer stands
			x.cancelled(f.vertex)
		}
		x.settle(f.vertex)
	}
	x.boarding = nil
}

func (x *execution[P]) endFlight(f *flight[P], now time.Time, err error) {
	if f.over {
		return
	}
	f.over = true
	f.end(err)
	f.due = now.Add(grace)
	x.setAlarm(now, f.due)
}

// expire ends the flights whose time has come, and abandons those whose grace has passed too.
func (x *execution[P]) expire(now time.Time) {
	x.alarmAt = time.Time{}
	for i := len(x.aloft) - 1; i >= 0; i-- {
		f := x.aloft[i]
		switch {
		case now.Before(f.due):
			x.setAlarm(now, f.due)
		case !f.over:
			x.endFlight(f, now, context.DeadlineExceeded)
		default:
			x.abandon(f, now)
		}
	}
}

// abandon goes on without a flight whose function doesn't return, and frees its slot.
func (x *execution[P]) abandon(f *flight[P], now time.Time) {
	x.runner.hung.add(x.identity(f.vertex))
	if f.gone.Swap(true) { // it has just returned
		x.runner.hung.remove(x.identity(f.vertex))
		return
	}
	<-x.runner.slots
	x.down(f)
	lost := x.newFlight(f.vertex, f.task) // the function may still write to its own
	lost.step.intent, lost.cause = f.step.intent, f.cause
	lost.took = now.Sub(f.began)
	lost.err = errHung(f.Err())
	x.land(lost)
}

// setAlarm wakes the run at the latest at a time.
func (x *execution[P]) setAlarm(now, at time.Time) {
	if !x.alarmAt.IsZero() && !at.Before(x.alarmAt) {
		return
	}
	x.alarmAt = at
	if x.alarm == nil {
		x.alarm = time.NewTimer(at.Sub(now))
		return
	}
	x.alarm.Reset(at.Sub(now))
}

// land takes in what came of a flight.
func (x *execution[P]) land(f *flight[P]) {
	v := f.vertex
	if f.task == answering {
		x.hear(f)
		x.settle(v)
		return
	}
	x.out[v].Duration = f.took
	switch {
	case f.task == previewing:
		x.previewed(f)
	case f.task == reconciling && f.err == nil:
		x.reconciled(v, &f.step, f.operation)
	case f.task == reconciling:
		x.erred(v, f.step.intent, f.err)
	case f.err == nil:
		x.removed(v, f.removal)
	default:
		x.erred(v, deletion, f.err)
	}
	x.conclude(v)
}

func (x *execution[P]) nodeID(v int32) NodeID {
	return NodeID{x.subject.ID, x.node(v).name, x.layout.vertices[v].key()}
}

func errHung(cause error) error {
	return Because(reasonTimedOut, fmt.Errorf(
		"it hasn't returned within %v of the end of its context (%w): it isn't executed again before it has", grace, cause))
}

const reasonTimedOut = "TimedOut"

// identity is what tells a node of a primary from all others, whatever their vertices in a run.
type identified struct {
	id   string
	node int32
	key  string
}

func (x *execution[P]) identity(v int32) identified {
	at := &x.layout.vertices[v]
	return identified{x.subject.ID, at.node.index, at.key()}
}

// hung holds the nodes whose functions were abandoned and haven't returned yet. Unlike what a Runner remembers, these
// aren't hints: executing such a node again would do its work twice at once.
type hung struct {
	some  atomic.Int32
	mutex sync.Mutex
	nodes map[identified]bool
}

func (h *hung) add(which identified) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	if h.nodes == nil {
		h.nodes = map[identified]bool{}
	}
	h.nodes[which] = true
	h.some.Store(int32(len(h.nodes)))
}

func (h *hung) remove(which identified) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	delete(h.nodes, which)
	h.some.Store(int32(len(h.nodes)))
}

// any spares most runs the question.
func (h *hung) any() bool { return h.some.Load() > 0 }

func (h *hung) has(which identified) bool {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	return h.nodes[which]
}

// SPDX-License-Identifier: Apache-2.0

package workflow

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"
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
	began  time.Duration // since the run began, as all times of flights: reading that clock is cheap
	// gone says that the run doesn't wait for it any more, or that it has returned: whoever sets it first decides.
	gone atomic.Bool
	over bool // its context has ended, and its grace runs

	// What it does, and what came of it.
	step      prepared
	removal   *Removal
	preview   *Preview
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

// now is how long the run has been having flights.
func (x *execution[P]) now() time.Duration {
	if x.began.IsZero() {
		x.began = time.Now()
	}
	return time.Since(x.began)
}

// airspace is what a run has aloft.
type airspace[P any] struct {
	landed   chan *flight[P]
	aloft    []*flight[P]
	boarding []*flight[P] // waiting for one of the Runner's slots
	alarm    *time.Timer
	alarmAt  time.Duration // 0: it isn't set
	began    time.Time
	closed   bool // the run's context has ended
	// abandoned says that a function that hasn't returned may still use what it was given.
	abandoned bool
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
			x.takeOff(f)
			return
		default:
		}
	}
	x.boarding = append(x.boarding, f)
}

func (x *execution[P]) takeOff(f *flight[P]) {
	f.began = x.now()
	f.origin, f.until = x.began, f.began+x.timeout(f.vertex)
	x.aloft = append(x.aloft, f)
	x.setAlarm(f.began, f.until)
	go f.fly()
}

// fly holds a slot until the function returns, or is abandoned.
func (f *flight[P]) fly() {
	f.perform()
	f.took = time.Since(f.origin) - f.began
	f.end(context.Canceled)
	if f.gone.Swap(true) {
		f.x.runner.hung.remove(f.x.identity(f.vertex))
		return
	}
	<-f.x.runner.slots
	f.x.landed <- f
}

// perform calls the author's code inside the observer's hooks. What most executions need has small frames of its own,
// so that a new goroutine's stack doesn't have to grow.
func (f *flight[P]) perform() {
	if f.x.runner.options.Observer != nil {
		f.performObserved()
		return
	}
	f.execute(&f.leash)
}

func (f *flight[P]) performObserved() {
	defer f.recovered() // of the observer
	observer, at := f.x.runner.options.Observer, f.x.nodeID(f.vertex)
	ctx := observer.NodeStarted(&f.leash, at)
	defer func() { observer.NodeEnded(ctx, at, f.operation, f.err) }()
	f.execute(ctx)
}

func (f *flight[P]) execute(ctx context.Context) {
	defer f.recovered()
	switch f.task {
	case reconciling:
		f.operation, f.err = f.x.resource(f.vertex).do(ctx, &f.step)
	case removing:
		f.remove(ctx)
	case answering:
		f.answer(ctx)
		return
	case previewing:
		f.dryRun(ctx)
	}
	if f.err == nil {
		f.err = f.x.views[f.vertex].unseen // an observation that couldn't be made is no absence
	}
	if f.err != nil {
		f.err = f.x.node(f.vertex).veiled(f.err)
	}
}

func (f *flight[P]) remove(ctx context.Context) {
	after, err := f.removal.Do(ctx)
	f.removal, f.operation, f.err = &after, after.Operation, err
}

// answer has a view of its own: an abandoned Do may still use that of the vertex.
func (f *flight[P]) answer(ctx context.Context) {
	view := &Run[P]{x: f.x, vertex: f.vertex, executing: true}
	f.err = f.x.node(f.vertex).onFailure(ctx, view, f.cause)
}

func (f *flight[P]) dryRun(ctx context.Context) {
	preview, err := f.x.resource(f.vertex).unwrap().(dryRunner[P]).DryRun(ctx, &f.x.views[f.vertex])
	f.preview, f.err = &preview, err
}

func (f *flight[P]) recovered() {
	if p := recover(); p != nil {
		f.err = f.x.panicked(f.x.node(f.vertex), p, debug.Stack())
	}
}

// await waits until something happens to what is aloft.
func (x *execution[P]) await() {
	select {
	case f := <-x.landed: // mostly there is one, and this is the cheap way to it
		x.down(f)
		x.land(f)
		return
	default:
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
		f := x.boarding[0]
		x.boarding = x.boarding[1:]
		x.takeOff(f)
	case <-alarm:
		x.expire(x.now())
	case <-ended:
		x.close(x.now())
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
func (x *execution[P]) close(now time.Duration) {
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

func (x *execution[P]) endFlight(f *flight[P], now time.Duration, err error) {
	if f.over {
		return
	}
	f.over = true
	f.end(err)
	f.until = now + grace
	x.setAlarm(now, f.until)
}

// expire ends the flights whose time has come, and abandons those whose grace has passed too.
func (x *execution[P]) expire(now time.Duration) {
	x.alarmAt = 0
	for _, f := range slices.Backward(x.aloft) { // so that the abandoned may be taken out
		switch {
		case now < f.until:
			x.setAlarm(now, f.until)
		case !f.over:
			x.endFlight(f, now, context.DeadlineExceeded)
		default:
			x.abandon(f, now)
		}
	}
}

// abandon goes on without a flight whose function doesn't return, and frees its slot.
func (x *execution[P]) abandon(f *flight[P], now time.Duration) {
	x.runner.hung.add(x.identity(f.vertex))
	if f.gone.Swap(true) { // it has just returned
		x.runner.hung.remove(x.identity(f.vertex))
		return
	}
	<-x.runner.slots
	x.down(f)
	x.abandoned = true
	lost := x.newFlight(f.vertex, f.task) // the function may still write to its own
	lost.step.intent, lost.cause = f.step.intent, f.cause
	lost.took = now - f.began
	lost.err = errHung(f.Err())
	x.land(lost)
}

// setAlarm wakes the run at the latest at a time.
func (x *execution[P]) setAlarm(now, at time.Duration) {
	if x.alarmAt > 0 && at >= x.alarmAt {
		return
	}
	x.alarmAt = at
	if x.alarm == nil {
		x.alarm = time.NewTimer(at - now)
		return
	}
	x.alarm.Reset(at - now)
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
		x.removed(v, *f.removal)
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

// SPDX-License-Identifier: Apache-2.0

package workflow

import (
	"context"
	"fmt"
	"slices"
	"time"
)

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

// now is how long the run has been having flights.
func (x *execution[P]) now() time.Duration {
	if x.began.IsZero() {
		x.began = time.Now()
	}
	return time.Since(x.began)
}

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
	f.began = x.now()
	f.origin, f.until = x.began, f.began+x.timeout(f.vertex)
	f.due = f.until
	x.aloft = append(x.aloft, f)
	x.setAlarm(f.began, f.due)
	go f.fly()
}

// await waits until something happens to what is aloft.
func (x *execution[P]) await() {
	if !x.closed && x.ctx.Err() != nil { // before what is boarding gets a slot
		x.close(x.now())
		return
	}
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
		if x.ctx.Err() != nil { // the next await ends what is boarding
			<-x.runner.slots
			return
		}
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
		switch f.task {
		case pruning: // what was left is still there
			continue
		case answering: // what it would answer stands
		default:
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
	f.due = now + grace
	x.setAlarm(now, f.due)
}

// expire ends the flights whose time has come, and abandons those whose grace has passed too.
func (x *execution[P]) expire(now time.Duration) {
	x.alarmAt = 0
	for _, f := range slices.Backward(x.aloft) { // so that the abandoned may be taken out
		switch {
		case now < f.due:
			x.setAlarm(now, f.due)
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
	lost.step.intent, lost.cause, lost.removal = f.step.intent, f.cause, &Removal{}
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

func errHung(cause error) error {
	return Because(reasonTimedOut, fmt.Errorf(
		"it hasn't returned within %v of the end of its context (%w): it isn't executed again before it has", grace, cause))
}

const reasonTimedOut = "TimedOut"

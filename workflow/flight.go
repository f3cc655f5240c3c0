// SPDX-License-Identifier: Apache-2.0

package workflow

import (
	"context"
	"fmt"
	"sync"
	"time"
)

const (
	defaultTimeout = time.Minute
	// grace is how long a function may take to return once its context has ended. Then the run goes on without it.
	grace = 5 * time.Second
)

// flight is the execution of one vertex's function beside the run, until it lands on the run's goroutine.
type flight struct {
	vertex int32
	took   time.Duration
	land   func()

	mutex sync.Mutex
	ended bool // it has landed: its function has returned, or the run no longer waits for that
}

// launch executes do beside other vertices, within the Runner's bound and the node's timeout. Do returns what is to be
// done with its outcome on the run's goroutine. If it doesn't return in time, failed is done instead.
func (x *execution[P]) launch(v int32, do func(ctx context.Context) (land func()), failed func(err error)) {
	x.flying++
	timeout := x.node(v).timeout
	if timeout == 0 {
		timeout = defaultTimeout
	}
	go func() {
		f := &flight{vertex: v}
		select {
		case x.runner.slots <- struct{}{}:
		case <-x.ctx.Done():
			f.land = func() { x.cancelled(v) }
			x.landed <- f
			return
		}
		x.fly(f, timeout, do, failed)
	}()
}

// fly holds a slot until the function returns, or is abandoned.
func (x *execution[P]) fly(
	f *flight, timeout time.Duration, do func(context.Context) func(), failed func(error),
) {
	ctx, cancel := context.WithTimeout(x.ctx, timeout)
	defer cancel()
	began := time.Now()
	abandon := func() {
		f.mutex.Lock()
		defer f.mutex.Unlock()
		if f.ended {
			return
		}
		f.ended = true
		x.runner.hung.add(x.subject.ID, f.vertex)
		x.touchdown(f, began, func() { failed(errHung(context.Cause(ctx))) })
	}
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(grace, abandon) })
	land := do(ctx)
	stop()
	f.mutex.Lock()
	defer f.mutex.Unlock()
	if f.ended {
		x.runner.hung.remove(x.subject.ID, f.vertex)
		return
	}
	f.ended = true
	x.touchdown(f, began, land)
}

// touchdown frees the slot and hands the flight to the run's goroutine. It never blocks: there is room for all flights.
func (x *execution[P]) touchdown(f *flight, began time.Time, land func()) {
	<-x.runner.slots
	f.took, f.land = time.Since(began), land
	x.landed <- f
}

func errHung(cause error) error {
	return Because(reasonTimedOut, fmt.Errorf(
		"it hasn't returned within %v of the end of its context (%w): it isn't executed again before it has", grace, cause))
}

const reasonTimedOut = "TimedOut"

// hung holds the nodes whose functions were abandoned and haven't returned yet. Unlike what a Runner remembers, these
// aren't hints: executing such a node again would do its work twice at once.
type hung struct {
	mutex sync.Mutex
	nodes map[hungNode]bool
}

type hungNode struct {
	id     string
	vertex int32
}

func (h *hung) add(id string, v int32) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	if h.nodes == nil {
		h.nodes = map[hungNode]bool{}
	}
	h.nodes[hungNode{id, v}] = true
}

func (h *hung) remove(id string, v int32) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	delete(h.nodes, hungNode{id, v})
}

func (h *hung) has(id string, v int32) bool {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	return h.nodes[hungNode{id, v}]
}

// SPDX-License-Identifier: Apache-2.0

package workflow_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/espalier-dev/espalier/workflow"
)

func doing(do func(ctx context.Context) error) thing {
	return thing{do: func(ctx context.Context) (workflow.Outcome[string], error) {
		return workflow.Outcome[string]{Ready: workflow.Met()}, do(ctx)
	}}
}

// The deadline of a Do stays where it is, also while its grace runs.
func TestDeadlineOfDo(t *testing.T) { // R24
	synctest.Test(t, func(t *testing.T) {
		b := workflow.NewBuilder[*primary]("deadline")
		workflow.Add(b, "node", doing(func(ctx context.Context) error {
			before, _ := ctx.Deadline()
			<-ctx.Done()
			for range 100 {
				if after, ok := ctx.Deadline(); !ok || !after.Equal(before) {
					t.Errorf("the deadline moved from %v to %v", before, after)
					break
				}
				runtime.Gosched()
			}
			return ctx.Err()
		})).Timeout(time.Second)
		newRunner(t, b, workflow.Options{}).Reconcile(t.Context(), subject)
	})
}

// What is derived from the context of a Do ends with it, for the same reason, and leaves nothing behind.
func TestContextsDerivedFromThatOfDo(t *testing.T) { // R24
	synctest.Test(t, func(t *testing.T) {
		for _, end := range []string{"timeout", "cancel", "return"} {
			ctx, cancel := context.WithCancelCause(t.Context())
			why := errors.New("enough")
			var late context.Context
			var called atomic.Int32
			b := workflow.NewBuilder[*primary]("derived")
			workflow.Add(b, "node", doing(func(ctx context.Context) error {
				context.AfterFunc(ctx, func() { called.Add(1) })
				stop := context.AfterFunc(ctx, func() { t.Error("stopped, and called all the same") })
				if !stop() || stop() {
					t.Error("it can be stopped once")
				}
				derived, free := context.WithTimeout(ctx, time.Hour)
				defer free()
				var own context.CancelCauseFunc
				late, own = context.WithCancelCause(derived)
				defer func() { _ = own }()
				if end == "return" {
					return nil
				}
				<-late.Done()
				want := map[string]error{"timeout": context.DeadlineExceeded, "cancel": context.Canceled}[end]
				for _, c := range []context.Context{ctx, derived, late} {
					<-c.Done()
					if !errors.Is(c.Err(), want) {
						t.Errorf("%s: got %v", end, c.Err())
					}
					if cause := context.Cause(c); end == "cancel" && !errors.Is(cause, why) || end == "timeout" && !errors.Is(cause, want) {
						t.Errorf("%s: the cause is %v", end, cause)
					}
				}
				return ctx.Err()
			})).Timeout(time.Second)
			if end == "cancel" {
				time.AfterFunc(time.Millisecond, func() { cancel(why) })
			}
			newRunner(t, b, workflow.Options{}).Reconcile(ctx, subject)
			synctest.Wait()
			if called.Load() != 1 || late.Err() == nil {
				t.Errorf("%s: %d calls, what was derived has %v", end, called.Load(), late.Err())
			}
			cancel(nil)
		}
	})
}

func TestRequestEndsWithDo(t *testing.T) { // R24
	hangs := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-hangs:
		case <-r.Context().Done():
		}
	}))
	defer server.Close()
	defer close(hangs)
	b := workflow.NewBuilder[*primary]("request")
	workflow.Add(b, "node", doing(func(ctx context.Context) error {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL, nil)
		if err != nil {
			return err
		}
		response, err := server.Client().Do(request)
		if err == nil {
			err = response.Body.Close()
		}
		return err
	})).Timeout(20 * time.Millisecond)
	row := newRunner(t, b, workflow.Options{}).Reconcile(t.Context(), subject).Node("node")
	if !errors.Is(row.Err, context.DeadlineExceeded) {
		t.Errorf("got %v", row.Err)
	}
}

// A function that returns exactly when its time is up, or its grace, is either in time or isn't; the run ends, and the
// node isn't held for hung.
func TestReturnsInTheLastMoment(t *testing.T) { // R24
	for _, after := range []time.Duration{time.Second, 6 * time.Second} {
		for range 50 {
			synctest.Test(t, func(t *testing.T) {
				b := workflow.NewBuilder[*primary]("moment")
				workflow.Add(b, "node", doing(func(context.Context) error {
					time.Sleep(after)
					return nil
				})).Timeout(time.Second)
				runner := newRunner(t, b, workflow.Options{MaxConcurrentNodes: 1})
				began := time.Now()
				result := runner.Reconcile(t.Context(), subject)
				if took := time.Since(began); took != after {
					t.Errorf("took %v: want %v", took, after)
				}
				synctest.Wait()
				time.Sleep(time.Hour)
				if row := runner.Reconcile(t.Context(), workflow.Subject[*primary]{ID: "a", Revision: 2}).Node("node"); row.Duration == 0 {
					t.Errorf("it isn't executed any more: first %s, then %+v", states(result), row)
				}
			})
		}
	}
}

// Whatever moment a run is cancelled in, it ends, and isn't ready.
func TestCancelledInEveryMoment(t *testing.T) { // R10
	for _, slots := range []int{1, 2, 4} {
		for moment := range 24 {
			ctx, cancel := context.WithCancel(t.Context())
			var calls atomic.Int32
			b := workflow.NewBuilder[*primary]("moments")
			var last handle
			for i := range 12 {
				node := workflow.Add(b, fmt.Sprintf("n%d", i), thing{prepare: func(run) (workflow.Step[string], error) {
					if calls.Add(1) == int32(moment+1) {
						cancel()
						time.Sleep(100 * time.Microsecond) // others land meanwhile
					}
					return workflow.Step[string]{Do: func(context.Context) (workflow.Outcome[string], error) {
						if calls.Add(1) == int32(moment+1) {
							cancel()
						}
						return workflow.Outcome[string]{Ready: workflow.Met()}, nil
					}}, nil
				}})
				if i%3 == 2 {
					node.DependsOn(last)
				}
				last = node
			}
			result := newRunner(t, b, workflow.Options{MaxConcurrentNodes: slots}).Reconcile(ctx, subject)
			if cancel(); calls.Load() < 24 && result.Ready() {
				t.Errorf("%d calls, and ready", calls.Load())
			}
		}
	}
}

// What waits for one of the Runner's slots doesn't get one that is freed after the end.
func TestNothingTakesOffAfterTheEnd(t *testing.T) { // R10
	for range 20 {
		ctx, cancel := context.WithCancel(t.Context())
		returned := make(chan struct{})
		b := workflow.NewBuilder[*primary]("late")
		workflow.Add(b, "first", doing(func(context.Context) error {
			cancel()
			close(returned)
			return nil
		}))
		workflow.Add(b, "second", doing(func(context.Context) error {
			t.Error("begun after the end")
			return nil
		}))
		workflow.Add(b, "third", thing{prepare: func(run) (workflow.Step[string], error) {
			<-returned
			time.Sleep(time.Millisecond)
			return workflow.Step[string]{Ready: workflow.Met()}, nil
		}})
		newRunner(t, b, workflow.Options{MaxConcurrentNodes: 1}).Reconcile(ctx, subject)
	}
}

// A function that ends its goroutine, as a test's FailNow does, has failed at once.
func TestFunctionThatEndsItsGoroutine(t *testing.T) { // R24
	synctest.Test(t, func(t *testing.T) {
		b, calls := workflow.NewBuilder[*primary]("exits"), 0
		workflow.Add(b, "node", doing(func(context.Context) error {
			if calls++; calls == 1 {
				runtime.Goexit()
			}
			return nil
		}))
		runner := newRunner(t, b, workflow.Options{})
		began := time.Now()
		if row := runner.Reconcile(t.Context(), subject).Node("node"); row.State != workflow.Failed || time.Since(began) > 0 {
			t.Errorf("after %v: got %+v", time.Since(began), row)
		}
		time.Sleep(time.Hour)
		if row := runner.Reconcile(t.Context(), subject).Node("node"); row.State != workflow.Ready {
			t.Errorf("an hour later: got %+v", row)
		}
	})
}

// Many runs share few slots, and all end.
func TestManyRunsOnOneRunner(t *testing.T) { // R11
	for slots := 1; slots <= 4; slots++ {
		b := workflow.NewBuilder[*primary]("shared")
		var last handle
		for i := range 8 {
			node := workflow.Add(b, fmt.Sprintf("n%d", i), doing(func(context.Context) error {
				runtime.Gosched()
				return nil
			}))
			if i%3 > 0 {
				node.DependsOn(last)
			}
			last = node
		}
		runner := newRunner(t, b, workflow.Options{MaxConcurrent: 1 + slots%3, MaxConcurrentNodes: slots})
		var all sync.WaitGroup
		for i := range 300 {
			all.Go(func() {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if i%5 == 0 {
					time.AfterFunc(time.Duration(i)*10*time.Microsecond, cancel)
				}
				result := runner.Reconcile(ctx, workflow.Subject[*primary]{ID: fmt.Sprint(i)})
				if !result.Ready() && ctx.Err() == nil {
					t.Error(result.Err())
				}
			})
		}
		all.Wait()
	}
}

// SPDX-License-Identifier: Apache-2.0

package workflow_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/espalier-dev/espalier/workflow"
)

func failing(fail *error, intent *uint64, calls *int) thing {
	return thing{prepare: func(run) (workflow.Step[string], error) {
		return workflow.Step[string]{Intent: *intent, Do: func(context.Context) (workflow.Outcome[string], error) {
			*calls++
			return workflow.Outcome[string]{Ready: workflow.Met()}, *fail
		}}, nil
	}}
}

func TestBackoff(t *testing.T) { // R20 C8
	synctest.Test(t, func(t *testing.T) {
		fail, intent, calls := errors.New("refused"), uint64(1), 0
		b := workflow.NewBuilder[*primary]("backoff")
		workflow.Add(b, "node", failing(&fail, &intent, &calls))
		runner := newRunner(t, b, workflow.Options{Jitter: func() float64 { return 0.5 }})
		subject := workflow.Subject[*primary]{ID: "a", Revision: 1}
		run := func() workflow.NodeResult { return runner.Reconcile(t.Context(), subject).Node("node") }

		row := run()
		if row.State != workflow.Failed || row.Attempts != 1 || row.RetryAfter != 750*time.Millisecond || !errors.Is(row.Err, fail) {
			t.Fatalf("first: got %+v", row)
		}
		time.Sleep(100 * time.Millisecond)
		if row = run(); calls != 1 || row.State != workflow.Failed || row.RetryAfter != 650*time.Millisecond {
			t.Fatalf("too early: %d calls, got %+v", calls, row)
		}
		time.Sleep(650 * time.Millisecond)
		if row = run(); calls != 2 || row.Attempts != 2 || row.RetryAfter != 1500*time.Millisecond {
			t.Fatalf("second: %d calls, got %+v", calls, row)
		}
		intent = 2
		if row = run(); calls != 3 || row.Attempts != 1 {
			t.Fatalf("another intent is tried at once: %d calls, got %+v", calls, row)
		}
		for range 20 {
			time.Sleep(10 * time.Minute)
			row = run()
		}
		if row.RetryAfter > 5*time.Minute || row.Attempts != 21 {
			t.Fatalf("it never gives up: got %+v", row)
		}
		fail = nil
		time.Sleep(10 * time.Minute)
		if row = run(); row.State != workflow.Ready || row.Attempts != 0 {
			t.Fatalf("at last: got %+v", row)
		}
	})
}

func TestTerminalAndTimedErrors(t *testing.T) { // R20 C9
	synctest.Test(t, func(t *testing.T) {
		fail, intent, calls := workflow.Terminal(errors.New("invalid")), uint64(1), 0
		b := workflow.NewBuilder[*primary]("terminal")
		workflow.Add(b, "node", failing(&fail, &intent, &calls))
		runner := newRunner(t, b, workflow.Options{})
		subject := workflow.Subject[*primary]{ID: "a", Revision: 1}
		runner.Reconcile(t.Context(), subject)
		time.Sleep(time.Hour)
		result := runner.Reconcile(t.Context(), subject)
		if calls != 1 || result.RequeueAfter() != 0 || !workflow.IsTerminal(result.Err()) {
			t.Fatalf("terminal: %d calls, %v, %v", calls, result.RequeueAfter(), result.Err())
		}
		fail = workflow.RetryAfter(errors.New("busy"), 7*time.Second)
		subject.Revision = 2
		if result = runner.Reconcile(t.Context(), subject); calls != 2 || result.RequeueAfter() != 7*time.Second {
			t.Fatalf("another revision: %d calls, %v", calls, result.RequeueAfter())
		}
		runner.Forget("a")
		if runner.Reconcile(t.Context(), subject); calls != 3 {
			t.Fatalf("forgotten: %d calls", calls)
		}
	})
}

func TestTimeout(t *testing.T) { // R24
	synctest.Test(t, func(t *testing.T) {
		b := workflow.NewBuilder[*primary]("timeout")
		waits := thing{do: func(ctx context.Context) (workflow.Outcome[string], error) {
			<-ctx.Done()
			return workflow.Outcome[string]{}, ctx.Err()
		}}
		workflow.Add(b, "short", waits).Timeout(time.Second)
		workflow.Add(b, "default", waits)
		began := time.Now()
		result := newRunner(t, b, workflow.Options{}).Reconcile(t.Context(), workflow.Subject[*primary]{ID: "a"})
		for node, want := range map[string]time.Duration{"short": time.Second, "default": time.Minute} {
			if row := result.Node(node); row.Duration != want || !errors.Is(row.Err, context.DeadlineExceeded) {
				t.Errorf("%s: got %v after %v", node, row.Err, row.Duration)
			}
		}
		if took := time.Since(began); took != time.Minute {
			t.Errorf("the run took %v", took)
		}
	})
}

func TestRecheck(t *testing.T) {
	b := workflow.NewBuilder[*primary]("recheck")
	workflow.Add(b, "gate", thing{}).HoldUntil("window", func(run) workflow.Verdict {
		return workflow.Unmet("Closed", "closed").Recheck(time.Minute)
	})
	workflow.Add(b, "open", thing{}).HoldUntil("window", func(run) workflow.Verdict {
		return workflow.Met().Recheck(time.Second)
	})
	workflow.Add(b, "ready", thing{}).ReadyWhen("soon", func(run, string) workflow.Verdict {
		return workflow.Unmet("Soon", "soon").Recheck(30 * time.Second)
	})
	if after := reconcile(t, b).RequeueAfter(); after != 30*time.Second {
		t.Errorf("got %v", after)
	}
}

func TestConcurrencyIsBounded(t *testing.T) { // R11 A5
	synctest.Test(t, func(t *testing.T) {
		var now, most atomic.Int32
		works := thing{do: func(context.Context) (workflow.Outcome[string], error) {
			most.Store(max(most.Load(), now.Add(1)))
			time.Sleep(time.Second)
			now.Add(-1)
			return workflow.Outcome[string]{Ready: workflow.Met()}, nil
		}}
		for name, c := range map[string]struct {
			options workflow.Options
			most    int32
			took    time.Duration
		}{
			"run":    {workflow.Options{MaxConcurrent: 3}, 3, 4 * time.Second},
			"runner": {workflow.Options{MaxConcurrentNodes: 2}, 2, 5 * time.Second},
		} {
			most.Store(0)
			b := workflow.NewBuilder[*primary]("bounded")
			for i := range 10 {
				workflow.Add(b, "n"+string(rune('0'+i)), works)
			}
			began := time.Now()
			runner := newRunner(t, b, c.options)
			if result := runner.Reconcile(t.Context(), workflow.Subject[*primary]{}); !result.Ready() {
				t.Fatal(result.Err())
			}
			if took := time.Since(began); took != c.took || most.Load() != c.most {
				t.Errorf("%s: %d at once, took %v: want %d and %v", name, most.Load(), took, c.most, c.took)
			}
		}
	})
}

func TestCancelled(t *testing.T) { // R10 F15
	ctx, cancel := context.WithCancel(t.Context())
	b := workflow.NewBuilder[*primary]("cancelled")
	first := workflow.Add(b, "first", thing{do: func(ctx context.Context) (workflow.Outcome[string], error) {
		cancel()
		return workflow.Outcome[string]{Ready: workflow.Met()}, nil
	}})
	workflow.Add(b, "second", thing{}).DependsOn(first)
	workflow.Add(b, "unwanted", thing{remove: func(run) (workflow.Removal, error) {
		t.Error("deleted after the end")
		return workflow.Removal{}, nil
	}}).DependsOn(workflow.Applied(workflow.Add(b, "off", thing{}).ReconcileWhen("off", func(run) workflow.Verdict {
		return workflow.Unmet("Off", "off")
	})), first)
	result := newRunner(t, b, workflow.Options{MaxConcurrent: 1}).Reconcile(ctx, workflow.Subject[*primary]{})
	if row := result.Node("second"); row.State != workflow.Blocked || row.Reason != "Cancelled" || row.BlockedBy != nil {
		t.Errorf("second: got %+v", row)
	}
	if result.Ready() || result.Complete() {
		t.Error("a cancelled run is neither ready nor complete")
	}
}

type panics struct{ seen []string }

func (p *panics) NodeStarted(ctx context.Context, _ workflow.NodeID) context.Context { return ctx }

func (p *panics) NodeEnded(context.Context, workflow.NodeID, workflow.Operation, error) {}

func (p *panics) Panicked(_ context.Context, at workflow.NodeID, _ any, stack []byte) {
	if len(stack) > 0 {
		p.seen = append(p.seen, at.Node)
	}
}

func TestPanicsReachTheObserver(t *testing.T) { // R10 C1
	b := workflow.NewBuilder[*primary]("panics")
	workflow.Add(b, "a", thing{do: func(context.Context) (workflow.Outcome[string], error) { panic("in Do") }})
	workflow.Add(b, "b", thing{prepare: func(run) (workflow.Step[string], error) { panic("in Prepare") }})
	workflow.Add(b, "c", thing{}).HoldUntil("gate", func(run) workflow.Verdict { panic("in a gate") })
	observer := &panics{}
	result := newRunner(t, b, workflow.Options{MaxConcurrent: 1, Observer: observer}).
		Reconcile(t.Context(), workflow.Subject[*primary]{})
	for _, row := range result.Nodes {
		if row.State != workflow.Failed {
			t.Errorf("%s: got %s", row.Name, row.State)
		}
	}
	if len(observer.seen) != 3 {
		t.Errorf("the observer saw %v", observer.seen)
	}
	if !result.Ready() && result.Complete() {
		t.Error("a run with a panic is complete")
	}
}

func TestAbandoned(t *testing.T) { // R24 A6
	synctest.Test(t, func(t *testing.T) {
		release, calls := make(chan struct{}), atomic.Int32{}
		b := workflow.NewBuilder[*primary]("abandoned")
		hangs := workflow.Add(b, "hangs", thing{do: func(context.Context) (workflow.Outcome[string], error) {
			calls.Add(1)
			<-release // whatever its context says
			return workflow.Outcome[string]{Ready: workflow.Met()}, nil
		}}).Timeout(10 * time.Second)
		workflow.Add(b, "after", thing{}).DependsOn(hangs)
		other := workflow.Add(b, "other", thing{})
		runner := newRunner(t, b, workflow.Options{MaxConcurrentNodes: 1})
		subject := workflow.Subject[*primary]{ID: "a"}

		began := time.Now()
		result := runner.Reconcile(t.Context(), subject)
		row := result.Node("hangs")
		if took := time.Since(began); took != 15*time.Second || row.Reason != "TimedOut" || row.State != workflow.Failed {
			t.Fatalf("after %v: got %+v", took, row)
		}
		if result.Node("after").State != workflow.Blocked || result.Node(other.Name()).State != workflow.Ready {
			t.Errorf("the run didn't go on: %v", result.Nodes)
		}
		time.Sleep(time.Hour)
		if row = runner.Reconcile(t.Context(), subject).Node("hangs"); calls.Load() != 1 || row.Reason != "TimedOut" {
			t.Errorf("executed %d times while it hangs: got %+v", calls.Load(), row)
		}
		release <- struct{}{}
		synctest.Wait()
		close(release)
		if row = runner.Reconcile(t.Context(), subject).Node("hangs"); calls.Load() != 2 || row.State != workflow.Ready {
			t.Errorf("executed %d times after it returned: got %+v", calls.Load(), row)
		}
	})
}

func TestHungNodeDoesNotStopOtherPrimaries(t *testing.T) { // R24
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		defer close(release)
		b := workflow.NewBuilder[*primary]("hung")
		workflow.Add(b, "node", thing{prepare: func(r run) (workflow.Step[string], error) {
			return workflow.Step[string]{Do: func(context.Context) (workflow.Outcome[string], error) {
				if r.ID() == "hangs" {
					<-release
				}
				return workflow.Outcome[string]{Ready: workflow.Met()}, nil
			}}, nil
		}})
		runner := newRunner(t, b, workflow.Options{MaxConcurrentNodes: 1})
		runner.Reconcile(t.Context(), workflow.Subject[*primary]{ID: "hangs"})
		began := time.Now()
		if result := runner.Reconcile(t.Context(), workflow.Subject[*primary]{ID: "b"}); !result.Ready() || time.Since(began) > 0 {
			t.Errorf("another primary waited %v: %v", time.Since(began), result.Err())
		}
	})
}

func TestBackoffOfANode(t *testing.T) { // R20 C7
	synctest.Test(t, func(t *testing.T) {
		fail, intent, calls := errors.New("refused"), uint64(1), 0
		b := workflow.NewBuilder[*primary]("backoff")
		workflow.Add(b, "node", failing(&fail, &intent, &calls)).
			Backoff(workflow.Backoff{First: time.Minute, Last: 3 * time.Minute, Limit: 3})
		runner := newRunner(t, b, workflow.Options{Jitter: func() float64 { return 0 }})
		var delays []time.Duration
		for range 5 {
			result := runner.Reconcile(t.Context(), workflow.Subject[*primary]{ID: "a"})
			delays = append(delays, result.RequeueAfter())
			time.Sleep(result.RequeueAfter())
		}
		want := []time.Duration{30 * time.Second, time.Minute, 0, 0, 0}
		if diff := cmp.Diff(want, delays); diff != "" || calls != 3 {
			t.Errorf("%d calls, delays (-want +got):\n%s", calls, diff)
		}
	})
}

func TestProgressDeadline(t *testing.T) { // R20 R22 C7
	synctest.Test(t, func(t *testing.T) {
		verdict := workflow.Unmet("Starting", "it starts")
		var answered []string
		b := workflow.NewBuilder[*primary]("deadline")
		workflow.Add(b, "node", thing{}).
			ReadyWhen("up", func(run, string) workflow.Verdict { return verdict }).
			ProgressDeadline(time.Minute).
			OnFailure(func(_ context.Context, r run, err error) error {
				answered = append(answered, r.Node()+": "+err.Error())
				return nil
			})
		runner := newRunner(t, b, workflow.Options{})
		subject := workflow.Subject[*primary]{ID: "a", Revision: 1}
		result := runner.Reconcile(t.Context(), subject)
		if row := result.Node("node"); row.State != workflow.NotReady || result.RequeueAfter() != time.Minute {
			t.Fatalf("at first: got %+v", row)
		}
		time.Sleep(time.Minute)
		for range 3 {
			row := runner.Reconcile(t.Context(), subject).Node("node")
			if row.State != workflow.Failed || row.Reason != "ProgressDeadlineExceeded" || !workflow.IsTerminal(row.Err) {
				t.Fatalf("too late: got %+v", row)
			}
		}
		if diff := cmp.Diff([]string{"node: it hasn't become ready within 1m0s: it starts"}, answered); diff != "" {
			t.Fatalf("answered (-want +got):\n%s", diff)
		}
		verdict = workflow.Met()
		if row := runner.Reconcile(t.Context(), subject).Node("node"); row.State != workflow.Ready {
			t.Fatalf("at last: got %+v", row)
		}
		verdict = workflow.Broken("Lost", "it is lost")
		if row := runner.Reconcile(t.Context(), subject).Node("node"); row.Reason != "Lost" || len(answered) != 2 {
			t.Fatalf("another failure is answered anew: got %+v, %v", row, answered)
		}
	})
}

func TestOnFailureThatFails(t *testing.T) { // R22
	synctest.Test(t, func(t *testing.T) {
		first, second, answers := errors.New("refused"), errors.New("can't restore"), 0
		fail, intent, calls := workflow.Terminal(first), uint64(1), 0
		b := workflow.NewBuilder[*primary]("answer")
		node := workflow.Add(b, "node", failing(&fail, &intent, &calls)).
			OnFailure(func(context.Context, run, error) error {
				answers++
				return second
			})
		workflow.Add(b, "after", thing{}).DependsOn(node)
		runner := newRunner(t, b, workflow.Options{})
		for range 2 {
			result := runner.Reconcile(t.Context(), workflow.Subject[*primary]{ID: "a"})
			row := result.Node("node")
			if !errors.Is(row.Err, first) || !errors.Is(row.Err, second) || result.RequeueAfter() == 0 {
				t.Fatalf("got %+v", row)
			}
			if result.Node("after").State != workflow.Blocked {
				t.Errorf("after: got %s", result.Node("after").State)
			}
		}
		if answers != 2 || calls != 1 {
			t.Errorf("%d answers, %d executions: an answer that failed is tried again, the node isn't", answers, calls)
		}
	})
}

// A function that was abandoned may still read what it was given, whatever other runs do meanwhile.
func TestAbandonedFunctionReadsOn(t *testing.T) { // R24
	synctest.Test(t, func(t *testing.T) {
		release, hangs := make(chan struct{}), true
		got := make(chan string, 1)
		seen := &panics{}
		b := workflow.NewBuilder[*primary]("abandoned")
		config := workflow.Value(b, "config", func(run) (string, error) { return "value", nil })
		workflow.Add(b, "node", thing{prepare: func(r run) (workflow.Step[string], error) {
			if !hangs {
				return workflow.Step[string]{Ready: workflow.Met()}, nil
			}
			return workflow.Step[string]{Do: func(context.Context) (workflow.Outcome[string], error) {
				<-release
				got <- config.Get(r)
				return workflow.Outcome[string]{Ready: workflow.Met()}, nil
			}}, nil
		}}).DependsOn(config).Timeout(time.Second)
		runner := newRunner(t, b, workflow.Options{Observer: seen})
		runner.Reconcile(t.Context(), subject)
		hangs = false
		for range 10 {
			runner.Reconcile(t.Context(), workflow.Subject[*primary]{ID: "another"})
		}
		close(release)
		if value := <-got; value != "value" {
			t.Errorf("got %q", value)
		}
		synctest.Wait()
		if seen.seen != nil {
			t.Errorf("it panicked: %v", seen.seen)
		}
	})
}

// With one execution at a time, everything happens in the same order in every run.
func TestDeterministic(t *testing.T) { // R12
	var first string
	for i := range 50 {
		s := newShards("c", "a", "b", "d")
		workflow.Add(s.builder.Group("x"), "beside", object{world: s.world})
		runner := s.runner(t)
		runner.Reconcile(t.Context(), subject)
		s.keys = []string{"d", "e"}
		runner.Reconcile(t.Context(), subject)
		runner.Cleanup(t.Context(), subject)
		log := strings.Join(s.world.took(), "\n")
		if i == 0 {
			first = log
		}
		if log != first {
			t.Fatalf("run %d (-want +got):\n%s", i, cmp.Diff(first, log))
		}
	}
}

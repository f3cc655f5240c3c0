// SPDX-License-Identifier: Apache-2.0

package workflow_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/espalier-dev/espalier/workflow"
)

// What interrupts the rest of a failed execution doesn't end it.
func TestRestIsNotInterrupted(t *testing.T) { // R20
	for _, between := range []string{"Prepare fails", "gate unknown", "not yet", "activation unknown", "another revision"} {
		synctest.Test(t, func(t *testing.T) {
			calls, interrupted := 0, false
			unknownIf := func(name string) workflow.Verdict {
				if interrupted && between == name {
					return workflow.Unknown(errors.New("nobody knows"))
				}
				return workflow.Met()
			}
			b := workflow.NewBuilder[*primary]("rest")
			workflow.Add(b, "node", thing{prepare: func(run) (workflow.Step[string], error) {
				switch {
				case interrupted && between == "Prepare fails":
					return workflow.Step[string]{}, errors.New("can't read")
				case interrupted && between == "not yet":
					return workflow.Step[string]{}, workflow.NotYet("NotYet", "not yet")
				}
				return workflow.Step[string]{Intent: 7, Do: func(context.Context) (workflow.Outcome[string], error) {
					calls++
					return workflow.Outcome[string]{}, errors.New("refused")
				}}, nil
			}}).Backoff(workflow.Backoff{First: time.Hour, Limit: 3}).
				HoldUntil("gate", func(run) workflow.Verdict { return unknownIf("gate unknown") }).
				ActivateWhen("activation", func(run) workflow.Verdict { return unknownIf("activation unknown") })
			runner, subject := newRunner(t, b, workflow.Options{}), workflow.Subject[*primary]{ID: "a", Revision: 1}
			var row workflow.NodeResult
			for i := range 5 {
				interrupted = i%2 == 1
				if interrupted && between == "another revision" {
					subject.Revision++
				}
				row = runner.Reconcile(t.Context(), subject).Node("node")
			}
			if calls != 1 || row.Attempts != 1 || row.RetryAfter == 0 {
				t.Errorf("%s: executed %d times, got %+v", between, calls, row)
			}
			if between == "Prepare fails" {
				return // that has a limit too
			}
			for range 2 {
				time.Sleep(24 * time.Hour)
				interrupted = true
				runner.Reconcile(t.Context(), subject)
				interrupted = false
				row = runner.Reconcile(t.Context(), subject).Node("node")
			}
			if calls != 3 || !workflow.IsTerminal(row.Err) {
				t.Errorf("%s: its limit: executed %d times, got %+v", between, calls, row)
			}
		})
	}
}

// The author's function isn't asked again before its delay has passed, or what it was given has changed.
func TestRestAfterAFailedPreparation(t *testing.T) { // R20
	synctest.Test(t, func(t *testing.T) {
		calls, intent, terminal := 0, uint64(1), false
		b := workflow.NewBuilder[*primary]("rest")
		base := workflow.Add(b, "base", thing{prepare: func(run) (workflow.Step[string], error) {
			return workflow.Step[string]{Intent: intent, Ready: workflow.Met()}, nil
		}})
		value := workflow.Value(b, "value", func(run) (int, error) { return 1, nil }).DependsOn(base)
		workflow.Add(b, "node", thing{prepare: func(run) (workflow.Step[string], error) {
			calls++
			err := errors.New("no such setting")
			if terminal {
				err = workflow.Terminal(err)
			}
			return workflow.Step[string]{}, err
		}}).DependsOn(value)
		runner := newRunner(t, b, workflow.Options{Jitter: func() float64 { return 0 }})
		subject := workflow.Subject[*primary]{ID: "a", Revision: 1}
		run := func(what string, want int) {
			t.Helper()
			row := runner.Reconcile(t.Context(), subject).Node("node")
			if calls != want || row.State != workflow.Failed || !strings.Contains(row.Message, "no such setting") {
				t.Errorf("%s: called %d times, want %d, got %+v", what, calls, want, row)
			}
		}
		run("first", 1)
		run("at once", 1)
		time.Sleep(500 * time.Millisecond)
		run("after its delay", 2)
		intent = 2
		run("with another intent before the value", 3)
		subject.Revision = 2
		run("at another revision", 4)
		terminal = true
		time.Sleep(time.Hour)
		run("terminal", 5)
		time.Sleep(time.Hour)
		run("terminal, later", 5)
		intent = 3
		run("terminal, with another intent before it", 6)
	})
}

// A run that ends doesn't make its nodes fail.
func TestCutShort(t *testing.T) { // R10 R20 R22
	for _, answer := range []error{context.Canceled, workflow.Terminal(errors.New("refused"))} {
		ctx, cancel := context.WithCancel(t.Context())
		answered := 0
		b := workflow.NewBuilder[*primary]("cut")
		workflow.Add(b, "node", thing{do: func(ctx context.Context) (workflow.Outcome[string], error) {
			cancel()
			<-ctx.Done()
			return workflow.Outcome[string]{}, answer
		}}).Backoff(workflow.Backoff{Limit: 1}).OnFailure(func(context.Context, run, error) error {
			answered++
			return nil
		})
		runner := newRunner(t, b, workflow.Options{})
		row := runner.Reconcile(ctx, subject).Node("node")
		if row.State != workflow.Failed || !errors.Is(row.Err, answer) || answered > 0 {
			t.Errorf("cut short: answered %d times, got %+v", answered, row)
		}
		if errors.Is(answer, context.Canceled) && (row.Reason != "Cancelled" || workflow.IsTerminal(row.Err) || row.Attempts > 0) {
			t.Errorf("it counts as a failure: %+v", row)
		}
		if !workflow.IsTerminal(answer) {
			continue
		}
		if runner.Reconcile(t.Context(), subject); answered != 1 {
			t.Errorf("a failure for good is answered by the next run: %d times", answered)
		}
	}
}

func TestUnseenInADo(t *testing.T) { // R1
	unseen := errors.New("the server doesn't answer")
	b := workflow.NewBuilder[*primary]("unseen")
	var r run
	workflow.Add(b, "node", thing{
		observe: func(run) (string, workflow.Presence, error) { return "", workflow.Indeterminate, unseen },
		prepare: func(view run) (workflow.Step[string], error) {
			r = view
			return workflow.Step[string]{Do: func(context.Context) (workflow.Outcome[string], error) {
				if _, ok := workflow.Own[string](r); ok {
					return workflow.Outcome[string]{Operation: workflow.Update, Ready: workflow.Met()}, nil
				}
				return workflow.Outcome[string]{Operation: workflow.Create, Ready: workflow.Met()}, nil
			}}, nil
		},
	})
	if row := reconcile(t, b).Node("node"); row.State != workflow.Failed || !errors.Is(row.Err, unseen) {
		t.Errorf("got %+v", row)
	}
}

func TestHungNodeIsNotReady(t *testing.T) { // R24
	synctest.Test(t, func(t *testing.T) {
		release, hangs := make(chan struct{}), true
		b := workflow.NewBuilder[*primary]("hung")
		workflow.Add(b, "node", thing{prepare: func(run) (workflow.Step[string], error) {
			step := workflow.Step[string]{Ready: workflow.Met()}
			if hangs {
				step.Do = func(context.Context) (workflow.Outcome[string], error) {
					<-release
					return workflow.Outcome[string]{}, nil
				}
			}
			return step, nil
		}}).Timeout(time.Second)
		runner := newRunner(t, b, workflow.Options{})
		for range 2 {
			if row := runner.Reconcile(t.Context(), subject).Node("node"); row.State != workflow.Failed || row.Reason != "TimedOut" {
				t.Errorf("got %+v", row)
			}
			hangs = false
		}
		close(release)
		synctest.Wait()
		if row := runner.Reconcile(t.Context(), subject).Node("node"); row.State != workflow.Ready {
			t.Errorf("it has returned: got %+v", row)
		}
	})
}

func TestOneAnswerPerFailure(t *testing.T) { // R22
	answers, blip := 0, false
	b := workflow.NewBuilder[*primary]("answers")
	x := workflow.Add(b, "x", thing{}).ReadyWhen("up", func(run, string) workflow.Verdict { return workflow.If(!blip, "Blip", "blip") })
	fail, intent, calls := workflow.Terminal(errors.New("refused")), uint64(7), 0
	workflow.Add(b, "node", failing(&fail, &intent, &calls)).DependsOn(x).OnFailure(func(context.Context, run, error) error {
		answers++
		return nil
	})
	runner := newRunner(t, b, workflow.Options{})
	for _, blip = range []bool{false, true, false} {
		runner.Reconcile(t.Context(), subject)
	}
	if calls != 1 || answers != 1 {
		t.Errorf("executed %d times, answered %d times", calls, answers)
	}
}

func TestProgressDeadlineOfWhatWasNotWanted(t *testing.T) { // R20
	synctest.Test(t, func(t *testing.T) {
		active := true
		b := workflow.NewBuilder[*primary]("deadline")
		workflow.Add(b, "node", thing{}).ProgressDeadline(time.Hour).
			ReadyWhen("never", func(run, string) workflow.Verdict { return workflow.Unmet("Starting", "starting") }).
			ActivateWhen("active", func(run) workflow.Verdict { return workflow.If(active, "Off", "off") })
		runner := newRunner(t, b, workflow.Options{})
		for _, active = range []bool{true, false, true} {
			row := runner.Reconcile(t.Context(), subject).Node("node")
			if row.State == workflow.Failed || active && row.Recheck != time.Hour {
				t.Errorf("got %+v", row)
			}
			time.Sleep(2 * time.Hour)
		}
	})
}

func TestPredicateIsAskedOnce(t *testing.T) { // R5 F8
	asked := 0
	b := workflow.NewBuilder[*primary]("circle")
	ok := workflow.Add(b, "ok", thing{})
	base := workflow.Add(b, "base", thing{}).ReconcileWhen("never", func(run) workflow.Verdict { return workflow.Unmet("No", "no") })
	middle := workflow.Add(b, "middle", thing{}).DependsOn(base)
	value := workflow.Value(b, "value", func(run) (int, error) { return 0, nil }).DependsOn(middle).
		ActivateWhen("unknown", func(run) workflow.Verdict { return workflow.Unknown(errors.New("nobody knows")) })
	workflow.Add(b, "watcher", thing{}).DependsOn(workflow.Gone(base), workflow.Where(ok, func(string) workflow.Verdict {
		asked++
		return workflow.Met()
	}))
	workflow.Add(b, "user", thing{}).DependsOn(workflow.Gone(base), value)
	if reconcile(t, b); asked != 1 {
		t.Errorf("asked %d times", asked)
	}
}

func TestWorkflowIsImmutable(t *testing.T) { // A7
	b := workflow.NewBuilder[*primary]("late")
	x := workflow.Add(b, "x", thing{})
	part := workflow.Repeat(b, "part", func(run) ([]string, error) { return nil, nil },
		func(*workflow.Builder[*primary], workflow.Key[*primary, string]) any { return nil })
	w, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	before, err := workflow.NewRunner(w, nil, workflow.Options{})
	if err != nil {
		t.Fatal(err)
	}
	x.ReconcileWhen("late", func(run) workflow.Verdict { return workflow.Unmet("No", "no") })
	part.AtLeast(1)
	if row := before.Reconcile(t.Context(), subject).Node("x"); row.State != workflow.Ready {
		t.Errorf("it changed: %+v", row)
	}
	_, err = workflow.NewRunner(w, nil, workflow.Options{})
	if err == nil || !strings.Contains(err.Error(), `node "x": it was declared or refined after Build`) || !strings.Contains(err.Error(), `"part"`) {
		t.Errorf("got %v", err)
	}
}

func TestCheckThatCannotSee(t *testing.T) { // R1
	b := workflow.NewBuilder[*primary]("unseen")
	x := workflow.Add(b, "x", thing{observe: func(run) (string, workflow.Presence, error) {
		return "", workflow.Indeterminate, errors.New("the server doesn't answer")
	}})
	b.Validate(func(r run) error { x.Lookup(r); return nil })
	result := reconcile(t, b)
	if result.Invalid == nil || workflow.IsTerminal(result.Invalid) || result.RequeueAfter() == 0 {
		t.Errorf("got %v, again after %v", result.Invalid, result.RequeueAfter())
	}
}

func TestSmallPrint(t *testing.T) {
	b := workflow.NewBuilder[*primary]("small")
	workflow.Add(b, "silent", thing{prepare: func(run) (workflow.Step[string], error) { return workflow.Step[string]{}, nil }})
	workflow.Add(b, "held", thing{}).
		HoldUntil("a", func(run) workflow.Verdict { return workflow.Unmet("A", "a") }).
		HoldUntil("b", func(run) workflow.Verdict { return workflow.Unmet("B", "b").Recheck(time.Minute) })
	result := reconcile(t, b)
	if row := result.Node("silent"); !strings.Contains(row.Message, "set Ready of the Step") {
		t.Errorf("a kind that forgets its verdict: %+v", row)
	}
	if row := result.Node("held"); row.Reason != "A" || row.Recheck != time.Minute || row.Wake() != workflow.WakeRecheck || len(row.Verdicts) != 2 {
		t.Errorf("joined conditions: %+v", row)
	}
	b = workflow.NewBuilder[*primary]("nil")
	var none *workflow.Node[*primary, string]
	workflow.Add(b, "node", thing{}).DependsOn(none, workflow.Gone(none), nil)
	if _, err := b.Build(); err == nil || !strings.Contains(err.Error(), "nil handle") {
		t.Errorf("a nil handle: got %v", err)
	}
}

func heap() int64 {
	var stats runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}

// A million primaries that come and go leave nothing behind.
func TestMemoryIsBounded(t *testing.T) { // R21
	fail, intent, calls := errors.New("refused"), uint64(1), 0
	b := workflow.NewBuilder[*primary]("memory")
	workflow.Add(b, "node", failing(&fail, &intent, &calls)).ProgressDeadline(time.Hour)
	runner := newRunner(t, b, workflow.Options{MaxConcurrent: 1})
	before := heap()
	primaries := 20_000 * *times // with -times 50 a million, which takes a minute with the race detector
	for i := range primaries {
		subject := workflow.Subject[*primary]{ID: string(rune('a'+i%26)) + time.Duration(i).String()}
		runner.Reconcile(t.Context(), subject)
		runner.Forget(subject.ID)
	}
	if grown := heap() - before; grown > 1<<20 {
		t.Errorf("%d primaries have left %d bytes", primaries, grown)
	}
}

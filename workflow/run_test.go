// SPDX-License-Identifier: Apache-2.0

package workflow_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/espalier-dev/espalier/workflow"
)

// thing is a kind whose behaviour is given by functions; nil ones do what is harmless.
type thing struct {
	observe func(run) (string, workflow.Presence, error)
	do      func(context.Context) (workflow.Outcome[string], error)
	prepare func(run) (workflow.Step[string], error)
	remove  func(run) (workflow.Removal, error)
}

func (k thing) Bind(any) (workflow.Resource[*primary, string], error) { return k, nil }

func (k thing) Observe(r run) (string, workflow.Presence, error) {
	if k.observe == nil {
		return "", workflow.Absent, nil
	}
	return k.observe(r)
}

func (k thing) Prepare(r run) (workflow.Step[string], error) {
	if k.prepare != nil {
		return k.prepare(r)
	}
	return workflow.Step[string]{Intent: 1, Value: "value", Ready: workflow.Met(), Do: k.do}, nil
}

func (k thing) Delete(r run) (workflow.Removal, error) {
	if k.remove == nil {
		return workflow.Removal{Gone: true}, nil
	}
	return k.remove(r)
}

func newRunner(t *testing.T, b *workflow.Builder[*primary], o workflow.Options) *workflow.Runner[*primary] {
	t.Helper()
	w, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	r, err := workflow.NewRunner(w, nil, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func reconcile(t *testing.T, b *workflow.Builder[*primary]) *workflow.Result {
	t.Helper()
	return newRunner(t, b, workflow.Options{}).Reconcile(t.Context(), workflow.Subject[*primary]{ID: "a"})
}

func TestGetReadsPrerequisitesAcrossOthers(t *testing.T) {
	b := workflow.NewBuilder[*primary]("reads")
	first := workflow.Value(b, "first", func(run) (int, error) { return 40, nil })
	second := workflow.Value(b, "second", func(r run) (int, error) { return first.Get(r) + 1, nil }).DependsOn(first)
	third := workflow.Value(b, "third", func(r run) (string, error) {
		return fmt.Sprint(first.Get(r) + second.Get(r)), nil
	}).DependsOn(second)
	var got string
	r := newRunner(t, b, workflow.Options{})
	result := r.Reconcile(t.Context(), workflow.Subject[*primary]{Summarize: func(r run, _ *workflow.Result) {
		got, _ = third.Lookup(r)
	}})
	if !result.Ready() || got != "81" {
		t.Errorf("got %q, %v: want 81", got, result.Err())
	}
}

func TestReadsThatTheGraphDoesNotAllow(t *testing.T) {
	b := workflow.NewBuilder[*primary]("reads")
	other := workflow.Value(b, "other", func(run) (int, error) { return 1, nil })
	after := workflow.Value(b, "after", func(run) (int, error) { return 1, nil })
	workflow.Value(b, "reader", func(r run) (int, error) { return other.Get(r), nil })
	workflow.Add(b, "doer", thing{prepare: func(r run) (workflow.Step[string], error) {
		return workflow.Step[string]{Do: func(context.Context) (workflow.Outcome[string], error) {
			after.Lookup(r)
			return workflow.Outcome[string]{}, nil
		}}, nil
	}})
	workflow.Value(b, "planner", func(run) (int, error) { return 1, nil }).DependsOn(other).
		ReconcileWhen("reads too early", func(r run) workflow.Verdict {
			return workflow.If(other.Get(r) == 1, "No", "no")
		})
	result := reconcile(t, b)
	for node, want := range map[string]string{
		"reader":  `node "reader" reads node "other" with Get, but it isn't a required prerequisite`,
		"doer":    `node "doer" reads node "after" with Lookup, but it isn't a prerequisite`,
		"planner": `node "planner" reads node "other" with Get before it may have been reconciled`,
	} {
		row := result.Node(node)
		if row.State != workflow.Failed || !strings.Contains(row.Message, want) || !workflow.IsTerminal(row.Err) {
			t.Errorf("%s: got %s %q (terminal %v): want %q", node, row.State, row.Message, workflow.IsTerminal(row.Err), want)
		}
	}
}

func TestLookupOfAnOptionalPrerequisite(t *testing.T) {
	for wanted, want := range map[bool]string{true: "value", false: ""} {
		b := workflow.NewBuilder[*primary]("reads")
		cache := workflow.Add(b, "cache", thing{}).ReconcileWhen("wanted", func(run) workflow.Verdict {
			return workflow.If(wanted, "NotWanted", "not wanted")
		})
		var got string
		var there bool
		workflow.Value(b, "user", func(r run) (int, error) {
			got, there = cache.Lookup(r)
			return 0, nil
		}).DependsOn(workflow.Optional(cache))
		if result := reconcile(t, b); !result.Ready() || got != want || there != wanted {
			t.Errorf("wanted %v: got %q, %v: %v", wanted, got, there, result.Err())
		}
	}
}

func TestPlanSeesWhatIsObserved(t *testing.T) { // R1
	broken := errors.New("forbidden")
	for name, c := range map[string]struct {
		presence workflow.Presence
		err      error
		want     workflow.State
	}{
		"present":       {presence: workflow.Present, want: workflow.Ready},
		"absent":        {presence: workflow.Absent, want: workflow.Disabled},
		"error":         {err: broken, want: workflow.Failed},
		"indeterminate": {want: workflow.Failed},
	} {
		b := workflow.NewBuilder[*primary]("plan")
		source := workflow.Add(b, "source", thing{observe: func(run) (string, workflow.Presence, error) {
			return "seen", c.presence, c.err
		}})
		workflow.Add(b, "user", thing{}).DependsOn(source).ReconcileWhen("seen", func(r run) workflow.Verdict {
			_, ok := source.Lookup(r)
			return workflow.If(ok, "NotSeen", "not seen") // whatever it answers, an error makes it unknown
		})
		if row := reconcile(t, b).Node("user"); row.State != c.want || c.err != nil && !errors.Is(row.Err, c.err) {
			t.Errorf("%s: got %s, %v: want %s", name, row.State, row.Err, c.want)
		}
	}
}

func TestOwnIsWhatTheNodeManages(t *testing.T) {
	b := workflow.NewBuilder[*primary]("own")
	var got string
	workflow.Add(b, "set", thing{
		observe: func(run) (string, workflow.Presence, error) { return "mine", workflow.Present, nil },
		prepare: func(r run) (workflow.Step[string], error) {
			got, _ = workflow.Own[string](r)
			return workflow.Step[string]{Ready: workflow.Met()}, nil
		},
	})
	if reconcile(t, b); got != "mine" {
		t.Errorf("got %q", got)
	}
}

func TestGroups(t *testing.T) { // R5
	b := workflow.NewBuilder[*primary]("groups")
	config := workflow.Value(b, "config", func(run) (int, error) { return 1, nil })
	var asked atomic.Int32
	group := b.Group("cache").DependsOn(config).ReconcileWhen("on", func(run) workflow.Verdict {
		asked.Add(1)
		return workflow.Met()
	})
	service := workflow.Value(group, "service", func(r run) (int, error) { return config.Get(r), nil })
	workflow.Value(group.Group("inner"), "pod", func(r run) (int, error) { return config.Get(r), nil })
	result := reconcile(t, b)
	if !result.Ready() || service.Name() != "cache-service" || result.Nodes[2].Name != "cache-inner-pod" {
		t.Errorf("got %v", result.Nodes)
	}
	if n := asked.Load(); n != 1 {
		t.Errorf("the group's condition was asked %d times: want once per run", n)
	}
}

func TestValidate(t *testing.T) {
	first, second := errors.New("port 0"), errors.New("no image")
	b := workflow.NewBuilder[*primary]("valid")
	var wrong error
	b.Validate(func(run) error { return wrong }).Validate(func(run) error {
		if wrong != nil {
			panic(second)
		}
		return nil
	})
	touched := 0
	node := thing{
		prepare: func(run) (workflow.Step[string], error) {
			touched++
			return workflow.Step[string]{Ready: workflow.Met()}, nil
		},
		remove: func(run) (workflow.Removal, error) { touched++; return workflow.Removal{Gone: true}, nil },
	}
	workflow.Add(b, "wanted", node)
	workflow.Add(b, "unwanted", node).ReconcileWhen("no", func(run) workflow.Verdict { return workflow.Unmet("No", "no") })
	runner, subject := newRunner(t, b, workflow.Options{}), workflow.Subject[*primary]{ID: "a"}

	wrong = first
	result := runner.Reconcile(t.Context(), subject)
	if touched != 0 || result.Ready() || !errors.Is(result.Err(), first) || !workflow.IsTerminal(result.Err()) {
		t.Errorf("touched %d nodes, %v", touched, result.Err())
	}
	if row := result.Node("unwanted"); row.State != workflow.Blocked || row.Reason != workflow.ReasonInvalidSpec {
		t.Errorf("unwanted: got %+v", row)
	}
	if result.RequeueAfter() != 0 {
		t.Errorf("tried again after %v", result.RequeueAfter())
	}
	if !runner.Cleanup(t.Context(), subject).Complete() {
		t.Error("an invalid primary can't be cleaned up")
	}
	wrong, touched = nil, 0
	if result = runner.Reconcile(t.Context(), subject); !result.Ready() || touched != 2 {
		t.Errorf("touched %d nodes, %v", touched, result.Err())
	}
}

func TestZeroVerdictIsUnknown(t *testing.T) { // R4
	b := workflow.NewBuilder[*primary]("zero")
	deleted := false
	workflow.Add(b, "data", thing{remove: func(run) (workflow.Removal, error) {
		deleted = true
		return workflow.Removal{Gone: true}, nil
	}}).ReconcileWhen("forgotten", func(run) workflow.Verdict { return workflow.Verdict{} })
	row := reconcile(t, b).Node("data")
	if deleted || row.State != workflow.Failed || !strings.Contains(row.Message, `condition "forgotten"`) {
		t.Errorf("got %s %q, deleted %v", row.State, row.Message, deleted)
	}
}

func TestBuilderBuildsOnce(t *testing.T) {
	b := workflow.NewBuilder[*primary]("once")
	if _, err := b.Build(); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Build(); err == nil {
		t.Error("a second Build succeeded")
	}
}

func TestBindingReportsAllErrors(t *testing.T) {
	b := workflow.NewBuilder[*primary]("bind")
	workflow.Add(b, "a", unbindable{})
	workflow.Add(b, "b", unbindable{})
	w, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	_, err = workflow.NewRunner(w, nil, workflow.Options{})
	for _, node := range []string{`node "a": no`, `node "b": no`} {
		if err == nil || !strings.Contains(err.Error(), node) {
			t.Errorf("got %v: want %s in it", err, node)
		}
	}
}

type unbindable struct{}

func (unbindable) Bind(any) (workflow.Resource[*primary, string], error) {
	return nil, errors.New("no")
}

// Of nodes that claim the same, one has it in a run.
func TestClaims(t *testing.T) { // R43
	b, calls := workflow.NewBuilder[*primary]("claims"), 0
	for name, claims := range map[string][]string{"a": {"disk 1", "disk 2"}, "c": {"disk 3"}} {
		workflow.Add(b, name, thing{prepare: func(run) (workflow.Step[string], error) {
			return workflow.Step[string]{Ready: workflow.Met(), Claims: claims}, nil
		}})
	}
	workflow.Add(b, "b", thing{prepare: func(run) (workflow.Step[string], error) {
		return workflow.Step[string]{Claims: []string{"disk 4", "disk 2"}, Do: func(context.Context) (workflow.Outcome[string], error) {
			calls++
			return workflow.Outcome[string]{}, nil
		}}, nil
	}})
	runner := newRunner(t, b, workflow.Options{})
	for range 2 {
		result := runner.Reconcile(t.Context(), subject)
		row := result.Node("b")
		if row.Reason != "ClaimedBy" || !workflow.IsTerminal(row.Err) || !strings.Contains(row.Message, `disk 2 is managed by node "a"`) || calls > 0 {
			t.Errorf("got %+v", row)
		}
		if result.Node("a").State != workflow.Ready || result.Node("c").State != workflow.Ready {
			t.Errorf("got %s", states(result))
		}
	}
}

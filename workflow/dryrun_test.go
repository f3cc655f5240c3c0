// SPDX-License-Identifier: Apache-2.0

package workflow_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/espalier-dev/espalier/workflow"
)

func TestPlan(t *testing.T) { // R23
	w, b := newWorld(), workflow.NewBuilder[*primary]("planned")
	image, wanted := "1", true
	config := workflow.Add(b, "config", object{world: w})
	database := workflow.Add(b, "database", object{world: w, want: func(run) string { return image }}).DependsOn(config)
	web := workflow.Add(b, "web", object{world: w, want: func(r run) string { return "web on " + database.Get(r) }}).
		DependsOn(workflow.Applied(database))
	workflow.Add(b, "ingress", object{world: w}).DependsOn(web)
	cache := workflow.Add(b, "cache", object{world: w}).
		ReconcileWhen("wanted", func(run) workflow.Verdict { return workflow.If(wanted, "NotWanted", "no cache") })
	warm := workflow.Add(b, "warm", object{world: w}).DependsOn(cache)
	workflow.Add(b, "successor", object{world: w}).DependsOn(workflow.Gone(warm))
	workflow.Add(b, "blind", thing{do: writes}).DependsOn(config)
	runner := newRunner(t, b, workflow.Options{})

	result := runner.Plan(t.Context(), subject)
	expect(t, "nothing is there", states(result), "config NotReady, database Unplanned by config, web Unplanned by config, "+
		"ingress Unplanned by config, cache NotReady, warm Unplanned by cache, successor Blocked by warm, blind Unplanned by config")
	if row := result.Node("config"); row.Operation != workflow.Create || row.Diff != "+ config" || row.Reason != workflow.ReasonPlanned {
		t.Errorf("got %+v", row)
	}
	if w.took() != nil || result.Ready() {
		t.Error("it wrote, or takes what it would write as ready")
	}

	runner.Reconcile(t.Context(), subject)
	w.took()
	image, wanted = "2", false
	result = runner.Plan(t.Context(), subject)
	expect(t, "a change and a removal", states(result), "config Ready, database NotReady, web Unplanned by database, "+
		"ingress Unplanned by database, cache Deleting, warm Deleting, successor Unplanned by warm, blind NotReady")
	if row := result.Node("database"); row.Operation != workflow.Update || row.Diff != "- 1\n+ 2" {
		t.Errorf("got %+v", row)
	}
	for _, node := range []string{"cache", "warm"} {
		if row := result.Node(node); row.Operation != workflow.Delete {
			t.Errorf("got %+v", row)
		}
	}
	if row := result.Node("blind"); row.Operation != workflow.Create || row.Diff != "" {
		t.Errorf("a resource that can't tell: got %+v", row)
	}
	if log := w.took(); log != nil {
		t.Errorf("it wrote: %v", log)
	}
}

// What is remembered of failures neither counts in a dry run nor changes.
func TestPlanForgetsNothing(t *testing.T) { // R20 R23
	fail, intent, calls := errors.New("refused"), uint64(1), 0
	b := workflow.NewBuilder[*primary]("planned")
	workflow.Add(b, "node", failing(&fail, &intent, &calls))
	runner := newRunner(t, b, workflow.Options{})
	runner.Reconcile(t.Context(), subject)
	if row := runner.Plan(t.Context(), subject).Node("node"); row.State != workflow.NotReady || calls != 1 {
		t.Errorf("planned: %d calls, got %+v", calls, row)
	}
	if row := runner.Reconcile(t.Context(), subject).Node("node"); calls != 1 || row.Attempts != 1 {
		t.Errorf("after it: %d calls, got %+v", calls, row)
	}
}

func TestSecret(t *testing.T) { // R45
	b := workflow.NewBuilder[*primary]("secret")
	word := "hunter2"
	var fail error
	password := workflow.Value(b, "password", func(run) (string, error) { return word, fail }).Secret().
		ReadyWhen("strong", func(_ run, v string) workflow.Verdict { return workflow.If(len(v) > 8, "Weak", "%s is weak", v) })
	hash := workflow.Value(b, "hash", func(r run) (int, error) { return len(password.Get(r)), nil }).DependsOn(
		workflow.Where(password, func(v string) workflow.Verdict { return workflow.Unmet("Known", "%s is known", v) }))
	workflow.Value(b, "panicking", func(run) (string, error) { panic(word) }).Secret()
	seen := &panics{}
	runner := newRunner(t, b, workflow.Options{Observer: seen})
	check := func(state workflow.State, reason string) {
		t.Helper()
		result := runner.Reconcile(t.Context(), subject)
		if row := result.Node("password"); row.State != state || row.Reason != reason {
			t.Errorf("got %+v", row)
		}
		all := result.Picture().Tree(workflow.TreeOptions{}) + result.Picture().DOT()
		for _, row := range result.Nodes {
			all += row.Message
			for _, answer := range row.Verdicts {
				all += answer.Verdict.String()
			}
		}
		if err := result.Err(); err != nil {
			all += err.Error()
		}
		if strings.Contains(all, word) {
			t.Errorf("it tells the secret:\n%s", all)
		}
	}
	check(workflow.NotReady, "Weak")
	word = "hunter2hunter2"
	check(workflow.Ready, "")
	fail = workflow.Terminal(workflow.Because("Rejected", errors.New(word+" was rejected")))
	check(workflow.Failed, "Rejected")
	if err := runner.Reconcile(t.Context(), subject).Node("password").Err; !workflow.IsTerminal(err) {
		t.Errorf("it forgets what the error means: %v", err)
	}
	fail = workflow.NotYet("Sealed", word)
	runner.Forget("a")
	check(workflow.Waiting, "Sealed")
	if len(seen.seen) == 0 || hash.Name() != "hash" {
		t.Error("the observer wasn't told of the panic")
	}
}

func writes(context.Context) (workflow.Outcome[string], error) {
	return workflow.Outcome[string]{Ready: workflow.Met()}, nil
}

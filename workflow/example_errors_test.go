// SPDX-License-Identifier: Apache-2.0

package workflow_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/espalier-dev/espalier/workflow"
)

// attempt is a run for a site, and the row of its node "certificate".
func attempt(runner *workflow.Runner[Site]) workflow.NodeResult {
	result := runner.Reconcile(context.Background(), workflow.Subject[Site]{ID: "shop", Revision: 1})
	return result.Node("certificate")
}

// issuer is a kind of node whose work answers with an error.
type issuer struct{ answer error }

func (k issuer) Bind(any) (workflow.Resource[Site, string], error) { return k, nil }

func (k issuer) Observe(visit) (string, workflow.Presence, error) { return "", workflow.Absent, nil }

func (k issuer) Prepare(visit) (workflow.Step[string], error) {
	return workflow.Step[string]{Intent: 1, Do: func(context.Context) (workflow.Outcome[string], error) {
		fmt.Println("asked the issuer")
		return workflow.Outcome[string]{Value: "certificate", Ready: workflow.Met()}, k.answer
	}}, nil
}

func (k issuer) Delete(visit) (workflow.Removal, error) { return workflow.Removal{Gone: true}, nil }

// The issuer says when to come back, so the node's backoff doesn't matter.
func ExampleRetryAfter() {
	b := workflow.NewBuilder[Site]("site")
	workflow.Add(b, "certificate", issuer{workflow.RetryAfter(errors.New("too many requests"), time.Hour)})
	runner := bind(b)
	for range 2 { // the second run comes too early
		row := attempt(runner)
		fmt.Println(row.State, "after", row.Attempts, "attempt; next in", row.RetryAfter.Round(time.Minute))
	}
	// Output:
	// asked the issuer
	// Failed after 1 attempt; next in 1h0m0s
	// Failed after 1 attempt; next in 1h0m0s
}

// Trying again can't help: the node rests until what it wants, or the primary's revision, has changed.
func ExampleTerminal() {
	b := workflow.NewBuilder[Site]("site")
	workflow.Add(b, "certificate", issuer{workflow.Terminal(errors.New("the domain isn't yours"))})
	runner := bind(b)
	for range 2 {
		row := attempt(runner)
		fmt.Println(row.State, "for good:", row.Message, row.RetryAfter)
	}
	// Output:
	// asked the issuer
	// Failed for good: the domain isn't yours 0s
	// Failed for good: the domain isn't yours 0s
}

// Waiting isn't a failure: there is no error, no attempt is counted, and nothing is retried by time.
func ExampleNotYet() {
	b := workflow.NewBuilder[Site]("site")
	workflow.Add(b, "certificate", issuer{workflow.NotYet("Pending", "the order is being checked")})
	row := attempt(bind(b))
	fmt.Println(row.State, row.Reason, row.Err, row.Attempts, row.RetryAfter)
	// Output:
	// asked the issuer
	// Waiting Pending <nil> 0 0s
}

// A reason is one word for conditions and metrics.
func ExampleBecause() {
	b := workflow.NewBuilder[Site]("site")
	workflow.Add(b, "certificate", issuer{workflow.Because("Forbidden", errors.New("the account is locked"))})
	row := attempt(bind(b))
	fmt.Println(row.State, row.Reason+":", row.Message)
	// Output:
	// asked the issuer
	// Failed Forbidden: the account is locked
}

// Retries are spaced: a run that comes before the delay has passed doesn't execute the node.
func ExampleBackoff() {
	b := workflow.NewBuilder[Site]("site")
	workflow.Add(b, "certificate", issuer{errors.New("no answer")}).
		Backoff(workflow.Backoff{First: 10 * time.Minute, Last: time.Hour, Limit: 5})
	site, err := b.Build()
	if err != nil {
		fmt.Println(err)
		return
	}
	half := func() float64 { return 0 } // the jitter takes at most half of a delay
	runner, err := workflow.NewRunner(site, nil, workflow.Options{Jitter: half})
	if err != nil {
		fmt.Println(err)
		return
	}
	for range 2 {
		fmt.Println(attempt(runner).RetryAfter.Round(time.Minute))
	}
	// Output:
	// asked the issuer
	// 5m0s
	// 5m0s
}

// OnFailure answers a failure for good, once. The node stays failed.
func ExampleBase_OnFailure() {
	b := workflow.NewBuilder[Site]("site")
	workflow.Add(b, "certificate", issuer{workflow.Terminal(errors.New("the domain isn't yours"))}).
		OnFailure(func(_ context.Context, r visit, err error) error {
			fmt.Println("withdrew the order:", err)
			return nil
		})
	runner := bind(b)
	for range 2 {
		fmt.Println(attempt(runner).State)
	}
	// Output:
	// asked the issuer
	// withdrew the order: the domain isn't yours
	// Failed
	// Failed
}

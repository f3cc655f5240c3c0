// SPDX-License-Identifier: Apache-2.0

package workflow_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/espalier-dev/espalier/workflow"
)

// The nodes of a group inherit what it depends on and when it is wanted. The condition is asked once for all of them.
func ExampleBuilder_Group() {
	hosts := Hosts{}
	b := workflow.NewBuilder[Site]("site")
	network := workflow.Add(b, "network", hosts)
	shop := b.Group("shop").DependsOn(network).
		ReconcileWhen("open", func(r visit) workflow.Verdict {
			return workflow.If(r.Primary().Domain != "", "NoDomain", "spec.domain is empty")
		})
	workflow.Add(shop, "web", hosts)
	workflow.Add(shop, "cart", hosts)
	show(b)
	// Output:
	// create network
	// site
	// └─ network       ✔ Ready
	//    ├─ shop-web   ○ Disabled   NoDomain: spec.domain is empty
	//    └─ shop-cart  ○ Disabled   NoDomain: spec.domain is empty
}

// A primary that isn't valid touches nothing, and isn't tried again until somebody has changed it.
func ExampleBuilder_Validate() {
	b := workflow.NewBuilder[Site]("site")
	workflow.Add(b, "web", Hosts{})
	b.Validate(func(r visit) error {
		if r.Primary().Replicas < 1 {
			return errors.New("spec.replicas must be at least 1")
		}
		return nil
	})
	result := bind(b).Reconcile(context.Background(), workflow.Subject[Site]{})
	fmt.Println(result.Err())
	fmt.Println("terminal:", workflow.IsTerminal(result.Err()))
	fmt.Print(result.Picture().Tree(workflow.TreeOptions{}))
	// Output:
	// spec.replicas must be at least 1
	// terminal: true
	// site
	// └─ web  · Blocked    InvalidSpec: the primary isn't valid
}

// A computed value is read, typed, by the nodes that depend on it.
func ExampleValue() {
	b := workflow.NewBuilder[Site]("site")
	replicas := workflow.Value(b, "replicas", func(r visit) (int, error) {
		return max(r.Primary().Replicas, 1), nil
	})
	address := workflow.Value(b, "address", func(r visit) (string, error) {
		return "web." + r.Primary().Domain, nil
	})
	workflow.Value(b, "banner", func(r visit) (string, error) {
		banner := fmt.Sprintf("%d × %s", replicas.Get(r), address.Get(r))
		fmt.Println(banner)
		return banner, nil
	}).DependsOn(replicas, address)
	bind(b).Reconcile(context.Background(), workflow.Subject[Site]{Primary: Site{Domain: "example.com"}})
	// Output:
	// 1 × web.example.com
}

// The old host is kept where it stands, and never made anew.
func ExampleOwn() {
	for _, hosts := range []Hosts{{"old": true}, {}} {
		b := workflow.NewBuilder[Site]("site")
		workflow.Add(b, "old", hosts).ReconcileWhen("stands", func(r visit) workflow.Verdict {
			_, there := workflow.Own[string](r)
			return workflow.If(there, "Retired", "it isn't made anew")
		})
		show(b)
	}
	// Output:
	// site
	// └─ old  ✔ Ready
	// site
	// └─ old  ○ Disabled   Retired: it isn't made anew
}

// A deadline turns waiting into a failure.
func ExampleBase_ProgressDeadline() {
	b := workflow.NewBuilder[Site]("site")
	workflow.Value(b, "certificate", func(visit) (string, error) {
		return "", workflow.NotYet("Pending", "it isn't issued yet")
	}).ProgressDeadline(time.Hour)
	result := bind(b).Reconcile(context.Background(), workflow.Subject[Site]{ID: "shop"})
	fmt.Println(result.Node("certificate").State, "and looked at again after", result.RequeueAfter().Round(time.Minute))
	// Output:
	// Waiting and looked at again after 1h0m0s
}

// SPDX-License-Identifier: Apache-2.0

package workflow_test

import (
	"context"
	"fmt"

	"github.com/espalier-dev/espalier/workflow"
)

// A reconcile looks at the world each time, and does what is left to do.
func ExampleRunner_Reconcile() {
	hosts := Hosts{}
	b := workflow.NewBuilder[Site]("site")
	database := workflow.Add(b, "database", hosts)
	workflow.Add(b, "web", hosts).DependsOn(database)
	runner := bind(b)
	shop := workflow.Subject[Site]{Primary: Site{Domain: "example.com"}, ID: "shop"}
	for range 2 {
		result := runner.Reconcile(context.Background(), shop)
		fmt.Println("ready:", result.Ready())
		delete(hosts, "database") // somebody pulls the plug
	}
	// Output:
	// create database
	// create web
	// ready: true
	// create database
	// ready: true
}

// A cleanup deletes everything, dependants first, and is repeated until it is complete.
func ExampleRunner_Cleanup() {
	hosts, drained := Hosts{"database": true, "web": true}, false
	b := workflow.NewBuilder[Site]("site")
	database := workflow.Add(b, "database", hosts)
	workflow.Add(b, "web", hosts).DependsOn(database).
		DeleteWhen("drained", func(visit) workflow.Verdict {
			return workflow.If(drained, "Busy", "it still serves")
		})
	runner := bind(b)
	for range 2 {
		result := runner.Cleanup(context.Background(), workflow.Subject[Site]{ID: "shop"})
		fmt.Print(result.Picture().Tree(workflow.TreeOptions{}))
		fmt.Println("complete:", result.Complete())
		drained = true
	}
	// Output:
	// site
	// └─ database  ◌ Deleting   waits for web
	//    └─ web    ◌ Deleting   Busy: it still serves
	// complete: false
	// delete web
	// delete database
	// site
	// └─ database  ○ Deleted
	//    └─ web    ○ Deleted
	// complete: true
}

// A summary reads what the nodes have yielded, for the primary's own status.
func ExampleSubject() {
	b := workflow.NewBuilder[Site]("site")
	address := workflow.Value(b, "address", func(r visit) (string, error) {
		return "web." + r.Primary().Domain, nil
	})
	bind(b).Reconcile(context.Background(), workflow.Subject[Site]{
		Primary: Site{Domain: "example.com"},
		ID:      "shop",
		Summarize: func(r visit, result *workflow.Result) {
			at, known := address.Lookup(r)
			fmt.Println(at, known, result.Ready())
		},
	})
	// Output:
	// web.example.com true true
}

// journal is an Observer that prints.
type journal struct{}

func (journal) NodeStarted(ctx context.Context, at workflow.NodeID) context.Context {
	fmt.Printf("%s: %s began\n", at.Primary, at.Node)
	return ctx
}

func (journal) NodeEnded(_ context.Context, at workflow.NodeID, did workflow.Operation, err error) {
	fmt.Printf("%s: %s ended: %s %v\n", at.Primary, at.Node, did, err)
}

func (journal) Panicked(_ context.Context, at workflow.NodeID, value any, _ []byte) {
	fmt.Printf("%s: %s panicked: %v\n", at.Primary, at.Node, value)
}

// An Observer is how logs, spans and metrics get out. It hears only of nodes that do something.
func ExampleObserver() {
	b := workflow.NewBuilder[Site]("site")
	workflow.Add(b, "database", Hosts{"database": true}) // nothing to do
	workflow.Add(b, "web", Hosts{})
	workflow.Value(b, "quota", func(visit) (int, error) { panic("no such account") })
	site, err := b.Build()
	if err != nil {
		fmt.Println(err)
		return
	}
	runner, err := workflow.NewRunner(site, nil, workflow.Options{Observer: journal{}, MaxConcurrent: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	runner.Reconcile(context.Background(), workflow.Subject[Site]{ID: "shop"})
	// Output:
	// shop: web began
	// create web
	// shop: web ended: Create <nil>
	// shop: quota panicked: no such account
}

// SPDX-License-Identifier: Apache-2.0

package workflow_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/espalier-dev/espalier/workflow"
)

// BlockedBy names what is at the end of the chain, not the neighbour.
func ExampleResult() {
	hosts := Hosts{}
	b := workflow.NewBuilder[Site]("site")
	database := workflow.Add(b, "database", hosts).
		HoldUntil("window", func(visit) workflow.Verdict { return workflow.Unmet("Closed", "at night only") })
	web := workflow.Add(b, "web", hosts).DependsOn(database)
	workflow.Add(b, "dns", hosts).DependsOn(web)
	result := bind(b).Reconcile(context.Background(), workflow.Subject[Site]{})
	for _, row := range result.Nodes {
		fmt.Println(row.Name, row.State, row.Reason, row.BlockedBy)
	}
	fmt.Println("ready:", result.Ready())
	// Output:
	// database Waiting Closed []
	// web Blocked  [database]
	// dns Blocked  [database]
	// ready: false
}

// All failures come joined, in declaration order, each with the name of its node.
func ExampleResult_Err() {
	refused := errors.New("refused")
	b := workflow.NewBuilder[Site]("site")
	workflow.Value(b, "database", func(visit) (string, error) { return "", refused })
	workflow.Value(b, "cache", func(visit) (string, error) { panic("no such host") })
	err := bind(b).Reconcile(context.Background(), workflow.Subject[Site]{}).Err()
	fmt.Println(err)
	if failure, ok := errors.AsType[*workflow.NodeError](err); ok {
		fmt.Println("first:", failure.Node)
	}
	fmt.Println("refused:", errors.Is(err, refused))
	// Output:
	// node "database": refused
	// node "cache": panic: no such host
	// first: database
	// refused: true
}

// The soonest wish counts: of a failure to be retried, or of a verdict to be asked for again.
func ExampleResult_RequeueAfter() {
	b := workflow.NewBuilder[Site]("site")
	workflow.Value(b, "dns", func(visit) (string, error) { return "93.184.216.34", nil }).
		ReadyWhen("spread", func(visit, string) workflow.Verdict {
			return workflow.Unmet("Spreading", "not all servers know it").Recheck(10 * time.Minute)
		})
	workflow.Value(b, "quota", func(visit) (int, error) {
		return 0, workflow.RetryAfter(errors.New("too many requests"), time.Hour)
	})
	result := bind(b).Reconcile(context.Background(), workflow.Subject[Site]{ID: "shop"})
	fmt.Println(result.RequeueAfter())
	// Output:
	// 10m0s
}

// sketch declares a graph with edges of two kinds.
func sketch() *workflow.Builder[Site] {
	hosts := Hosts{"database": true}
	b := workflow.NewBuilder[Site]("site")
	database := workflow.Add(b, "database", hosts)
	cache := workflow.Add(b, "cache", hosts).
		ReconcileWhen("cached", func(visit) workflow.Verdict {
			return workflow.Unmet("NotCached", "spec.cache is false")
		})
	workflow.Add(b, "web", hosts).DependsOn(database, workflow.Optional(cache))
	return b
}

// A result as a tree. Each node hangs under one prerequisite; the others stand behind the arrow.
func ExamplePicture_Tree() {
	result := bind(sketch()).Reconcile(context.Background(), workflow.Subject[Site]{})
	fmt.Print(result.Picture().Tree(workflow.TreeOptions{Width: 50}))
	// Output:
	// create web
	// site
	// ├─ database        ✔ Ready
	// │  └─ web ← cache  ✔ Ready
	// └─ cache           ○ Disabled   NotCached: spec.c…
}

// A workflow as a Mermaid flowchart, for a README. The picture of a result has its states, too.
func ExamplePicture_Mermaid() {
	site, err := sketch().Build()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(site.Picture().Mermaid())
	// Output:
	// flowchart LR
	//     n0["database"]
	//     n1["cache"]
	//     n2["web"]
	//     n0 --> n2
	//     n1 -. optional .-> n2
}

// A workflow in the language of Graphviz.
func ExamplePicture_DOT() {
	site, err := sketch().Build()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(site.Picture().DOT())
	// Output:
	// strict digraph "site" {
	//   graph [
	//     rankdir=LR
	//   ];
	//   node [
	//     shape=box
	//     style=filled
	//     fillcolor=white
	//   ];
	//
	//   // Node definitions.
	//   "database";
	//   "cache";
	//   "web";
	//
	//   // Edge definitions.
	//   "database" -> "web";
	//   "cache" -> "web" [label="optional"];
	// }
}

// SPDX-License-Identifier: Apache-2.0

package workflow_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/espalier-dev/espalier/workflow"
)

// A node that exists only in a cleanup: a last backup. What it needs stays until it is ready, and what it wrote goes
// last. The web server is Optional to it, so that nobody writes any more.
func ExampleOnCleanup() {
	hosts := Hosts{}
	b := workflow.NewBuilder[Site]("site")
	database := workflow.Add(b, "database", hosts)
	backup := workflow.Add(workflow.OnCleanup(b), "backup", hosts).DependsOn(database)
	workflow.Add(b, "web", hosts).DependsOn(database, workflow.Optional(backup))
	runner := bind(b)
	result := runner.Reconcile(context.Background(), workflow.Subject[Site]{})
	fmt.Println(result.Node("backup").State)
	result = runner.Cleanup(context.Background(), workflow.Subject[Site]{})
	fmt.Println(result.Complete())
	// Output:
	// create database
	// create web
	// Disabled
	// delete web
	// create backup
	// delete database
	// delete backup
	// true
}

// Plan says what a Reconcile would do. What depends on what would change can't be told.
func ExampleRunner_Plan() {
	hosts := Hosts{"old": true}
	b := workflow.NewBuilder[Site]("site")
	database := workflow.Add(b, "database", hosts)
	workflow.Add(b, "web", hosts).DependsOn(database)
	workflow.Add(b, "old", hosts).ReconcileWhen("legacy", func(visit) workflow.Verdict {
		return workflow.Unmet("Replaced", "nobody uses it")
	})
	result := bind(b).Plan(context.Background(), workflow.Subject[Site]{})
	for _, row := range result.Nodes {
		fmt.Println(row.Name, row.State, row.Operation, row.BlockedBy)
	}
	fmt.Println(hosts)
	// Output:
	// database NotReady Create []
	// web Unplanned  [database]
	// old Deleting Delete []
	// map[old:true]
}

// A secret value is never quoted.
func ExampleComputed_Secret() {
	b := workflow.NewBuilder[Site]("site")
	workflow.Value(b, "password", func(visit) (string, error) {
		return "", workflow.Because("Rejected", errors.New(`"hunter2" is too weak`))
	}).Secret()
	show(b)
	// Output:
	// site
	// └─ password  ✘ Failed     Rejected: it is hidden, since the value is secret
}

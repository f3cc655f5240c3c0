// SPDX-License-Identifier: Apache-2.0

package workflow_test

import (
	"errors"
	"fmt"
	"time"

	"github.com/espalier-dev/espalier/workflow"
)

// A host whose kind the cluster doesn't have is left alone, whatever the spec says.
func ExampleBase_ActivateWhen() {
	hosts := Hosts{"monitor": true}
	b := workflow.NewBuilder[Site]("site")
	monitor := workflow.Add(b, "monitor", hosts).
		ActivateWhen("served", func(visit) workflow.Verdict {
			return workflow.Unmet("NotServed", "monitors can't be had here")
		})
	workflow.Add(b, "alerts", hosts).DependsOn(monitor)
	show(b)
	// Output:
	// site
	// └─ monitor    ○ Inactive   NotServed: monitors can't be had here
	//    └─ alerts  ○ Inactive   PrerequisiteInactive: requires monitor
}

// What isn't wanted is deleted, and what requires it before that.
func ExampleBase_ReconcileWhen() {
	hosts := Hosts{"web": true, "ingress": true, "check": true}
	b := workflow.NewBuilder[Site]("site")
	web := workflow.Add(b, "web", hosts)
	ingress := workflow.Add(b, "ingress", hosts).DependsOn(web).
		ReconcileWhen("exposed", func(r visit) workflow.Verdict {
			return workflow.If(r.Primary().Domain != "", "NoDomain", "spec.domain is empty")
		})
	workflow.Add(b, "check", hosts).DependsOn(ingress)
	show(b)
	// Output:
	// delete check
	// delete ingress
	// site
	// └─ web          ✔ Ready
	//    └─ ingress   ○ Disabled   NoDomain: spec.domain is empty
	//       └─ check  ○ Disabled   PrerequisiteUnwanted: requires ingress
}

// A gate holds a node back for now. What stands isn't touched.
func ExampleBase_HoldUntil() {
	hosts := Hosts{}
	b := workflow.NewBuilder[Site]("site")
	workflow.Add(b, "web", hosts).
		HoldUntil("window", func(visit) workflow.Verdict {
			return workflow.Unmet("Closed", "changes are made at night").Recheck(time.Hour)
		})
	show(b)
	// Output:
	// site
	// └─ web  ◷ Waiting    Closed: changes are made at night
}

// Readiness is judged on what came back, in the same run.
func ExampleBase_ReadyWhen() {
	b := workflow.NewBuilder[Site]("site")
	members := workflow.Value(b, "members", func(visit) (int, error) { return 2, nil }).
		ReadyWhen("quorum", func(_ visit, n int) workflow.Verdict {
			return workflow.If(n >= 3, "NoQuorum", "%d of 3 members", n)
		})
	workflow.Add(b, "web", Hosts{}).DependsOn(members)
	show(b)
	// Output:
	// site
	// └─ members  ◐ NotReady   NoQuorum: 2 of 3 members
	//    └─ web   · Blocked    waits for members
}

// The database isn't wanted any more, but stays until it has been saved.
func ExampleBase_DeleteWhen() {
	b := workflow.NewBuilder[Site]("site")
	workflow.Add(b, "database", Hosts{"database": true}).
		ReconcileWhen("wanted", func(visit) workflow.Verdict {
			return workflow.Unmet("NotWanted", "the spec hasn't got it")
		}).
		DeleteWhen("saved", func(visit) workflow.Verdict {
			return workflow.Unmet("NotSaved", "the backup is running")
		})
	show(b)
	// Output:
	// site
	// └─ database  ◌ Deleting   NotSaved: the backup is running
}

// The database is deleted, but only counts as gone once its name is free, and what it requires stays until then.
func ExampleBase_DeletedWhen() {
	unwanted := func(visit) workflow.Verdict { return workflow.Unmet("NotWanted", "the spec hasn't got it") }
	hosts := Hosts{"network": true, "database": true}
	b := workflow.NewBuilder[Site]("site")
	network := workflow.Add(b, "network", hosts).ReconcileWhen("wanted", unwanted)
	workflow.Add(b, "database", hosts).DependsOn(network).
		DeletedWhen("free", func(visit) workflow.Verdict {
			return workflow.Unmet("NameTaken", "its name is still in use")
		})
	show(b)
	// Output:
	// delete database
	// site
	// └─ network      ◌ Deleting   NotWanted: the spec hasn't got it: waits for database
	//    └─ database  ◌ Deleting   NameTaken: its name is still in use
}

func ExampleVerdict() {
	for _, v := range []workflow.Verdict{
		workflow.Met(),
		workflow.If(2 >= 3, "NoQuorum", "%d of %d members", 2, 3),
		workflow.Broken("Lost", "the disk is lost"),
		workflow.Unknown(errors.New("the server doesn't answer")),
		{}, // a forgotten answer deletes nothing
	} {
		fmt.Println(v)
	}
	// Output:
	// met
	// unmet: NoQuorum: 2 of 3 members
	// broken: Lost: the disk is lost
	// unknown: the server doesn't answer
	// unknown: the condition gave no answer: return workflow.Met, Unmet or Unknown
}

func ExampleAll() {
	up, full := workflow.Met(), workflow.Unmet("Full", "the disk is full")
	fmt.Println(workflow.All(up, up))
	fmt.Println(workflow.All(up, full))
	fmt.Println(workflow.All(up, full, workflow.Unknown(errors.New("the server doesn't answer"))))
	// Output:
	// met
	// unmet: Full: the disk is full
	// unknown: the server doesn't answer
}

// SPDX-License-Identifier: Apache-2.0

package workflow_test

import (
	"fmt"

	"github.com/espalier-dev/espalier/workflow"
)

// Web stands already, so a database that restarts doesn't keep it from being reconciled. The worker waits.
func ExampleToCreate() {
	hosts := Hosts{"database": true, "web": true}
	b := workflow.NewBuilder[Site]("site")
	database := workflow.Add(b, "database", hosts).
		ReadyWhen("up", func(visit, string) workflow.Verdict {
			return workflow.Unmet("Restarting", "it is restarting")
		})
	workflow.Add(b, "web", hosts).DependsOn(workflow.ToCreate(database))
	workflow.Add(b, "worker", hosts).DependsOn(workflow.ToCreate(database))
	show(b)
	// Output:
	// site
	// └─ database   ◐ NotReady   Restarting: it is restarting
	//    ├─ web     ✔ Ready
	//    └─ worker  · Blocked    waits for database
}

// The service only needs that web was written. The check needs it to be ready.
func ExampleApplied() {
	hosts := Hosts{}
	b := workflow.NewBuilder[Site]("site")
	web := workflow.Add(b, "web", hosts).
		ReadyWhen("up", func(visit, string) workflow.Verdict {
			return workflow.Unmet("Starting", "it is starting")
		})
	workflow.Add(b, "service", hosts).DependsOn(workflow.Applied(web))
	workflow.Add(b, "check", hosts).DependsOn(web)
	show(b)
	// Output:
	// create web
	// create service
	// site
	// └─ web         ◐ NotReady   Starting: it is starting
	//    ├─ service  ✔ Ready
	//    └─ check    · Blocked    waits for web
}

// The predicate sees what the prerequisite yields, and belongs to this edge only.
func ExampleWhere() {
	hosts := Hosts{}
	b := workflow.NewBuilder[Site]("site")
	members := workflow.Value(b, "members", func(visit) (int, error) { return 2, nil })
	workflow.Add(b, "reader", hosts).DependsOn(members)
	workflow.Add(b, "writer", hosts).
		DependsOn(workflow.Where(members, func(n int) workflow.Verdict {
			return workflow.If(n >= 3, "NoQuorum", "%d of 3 members", n)
		}))
	show(b)
	// Output:
	// create reader
	// site
	// └─ members    ✔ Ready
	//    ├─ reader  ✔ Ready
	//    └─ writer  · Blocked    NoQuorum: 2 of 3 members: waits for members
}

// The cache isn't wanted any more. Web is reconciled without it first, and then it goes.
func ExampleOptional() {
	hosts := Hosts{"cache": true, "web": true}
	b := workflow.NewBuilder[Site]("site")
	cache := workflow.Add(b, "cache", hosts).
		ReconcileWhen("cached", func(visit) workflow.Verdict {
			return workflow.Unmet("NotCached", "spec.cache is false")
		})
	settings := workflow.Value(b, "settings", func(r visit) (string, error) {
		name, there := cache.Lookup(r)
		fmt.Printf("the cache is %q: %v\n", name, there)
		return name, nil
	}).DependsOn(workflow.Optional(cache))
	workflow.Add(b, "web", hosts).DependsOn(settings)
	show(b)
	// Output:
	// the cache is "": false
	// delete cache
	// site
	// └─ cache        ○ Disabled   NotCached: spec.cache is false
	//    └─ settings  ✔ Ready
	//       └─ web    ✔ Ready
}

// Neither cache nor banner is wanted any more, and web can't be reconciled now. It may still use the cache; it does well
// without the banner.
func ExampleLoose() {
	hosts := Hosts{"cache": true, "banner": true, "web": true}
	unwanted := func(visit) workflow.Verdict { return workflow.Unmet("NotWanted", "the spec hasn't got it") }
	b := workflow.NewBuilder[Site]("site")
	cache := workflow.Add(b, "cache", hosts).ReconcileWhen("wanted", unwanted)
	banner := workflow.Add(b, "banner", hosts).ReconcileWhen("wanted", unwanted)
	workflow.Add(b, "web", hosts).
		DependsOn(workflow.Optional(cache), workflow.Loose(banner)).
		HoldUntil("window", func(visit) workflow.Verdict { return workflow.Unmet("Closed", "at night only") })
	show(b)
	// Output:
	// delete banner
	// site
	// ├─ cache            ◌ Deleting   NotWanted: the spec hasn't got it: waits for web
	// │  └─ web ← banner  ◷ Waiting    Closed: at night only
	// └─ banner           ○ Disabled   NotWanted: the spec hasn't got it
}

// Only one of the two may have the address at a time.
func ExampleGone() {
	hosts := Hosts{"old": true}
	b := workflow.NewBuilder[Site]("site")
	predecessor := workflow.Add(b, "old", hosts).
		ReconcileWhen("kept", func(visit) workflow.Verdict {
			return workflow.Unmet("Replaced", "the new one takes over")
		})
	workflow.Add(b, "new", hosts).DependsOn(workflow.Gone(predecessor))
	show(b)
	// Output:
	// delete old
	// create new
	// site
	// └─ old     ○ Disabled   Replaced: the new one takes over
	//    └─ new  ✔ Ready
}

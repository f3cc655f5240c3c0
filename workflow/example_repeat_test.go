// SPDX-License-Identifier: Apache-2.0

package workflow_test

import (
	"context"
	"fmt"

	"github.com/espalier-dev/espalier/workflow"
)

// member is what a Repeat repeats in these examples: its declaration returns the handles.
type member struct{ disk, server *workflow.Node[Site, string] }

// members declares a disk and a server on it, per key.
func members(b *workflow.Builder[Site], hosts Hosts, keys *[]string) *workflow.Repeated[Site, string, member] {
	return workflow.Repeat(b, "member", func(visit) ([]string, error) { return *keys, nil },
		func(b *workflow.Builder[Site], _ workflow.Key[Site, string]) member {
			disk := workflow.Add(b, "disk", hosts)
			return member{disk, workflow.Add(b, "server", hosts).DependsOn(disk)}
		})
}

// A part of a graph runs once per key. An edge from outside is to all instances; what is no longer wanted is deleted in
// reverse, once what depends on it has done without it.
func ExampleRepeat() {
	hosts, keys := Hosts{}, []string{"a", "b"}
	b := workflow.NewBuilder[Site]("site")
	all := members(b, hosts, &keys)
	workflow.Add(b, "balancer", hosts).DependsOn(all).ReadyWhen("serves", func(r visit, _ string) workflow.Verdict {
		for _, key := range all.Get(r) {
			fmt.Println("serve from", all.Nodes.server.Get(all.At(r, key)))
		}
		return workflow.Met()
	})
	runner := bind(b)
	runner.Reconcile(context.Background(), workflow.Subject[Site]{})
	keys = []string{"b"}
	result := runner.Reconcile(context.Background(), workflow.Subject[Site]{})
	fmt.Print(result.Picture().Tree(workflow.TreeOptions{}))
	// Output:
	// create member-disk a
	// create member-disk b
	// create member-server a
	// create member-server b
	// create balancer
	// serve from member-server a
	// serve from member-server b
	// serve from member-server b
	// delete member-server a
	// delete member-disk a
	// site
	// └─ member                                                                        ✔ Ready
	//    ├─ member-disk[a]                                                             ○ Disabled   KeyVanished: its key isn't wanted any more
	//    │  └─ member-server[a]                                                        ○ Disabled   KeyVanished: its key isn't wanted any more
	//    │     └─ balancer ← member, member-disk[a], member-disk[b], member-server[b]  ✔ Ready
	//    └─ member-disk[b]                                                             ✔ Ready
	//       └─ member-server[b]                                                        ✔ Ready
}

// InOrder rolls out one instance after the other, and stops behind one that isn't ready.
func ExampleRepeated_InOrder() {
	hosts, keys := Hosts{}, []string{"canary", "a", "b"}
	b := workflow.NewBuilder[Site]("site")
	all := members(b, hosts, &keys).InOrder()
	all.Nodes.server.ReadyWhen("up", func(r visit, _ string) workflow.Verdict {
		return workflow.If(r.Key() != "a", "Starting", "it starts")
	})
	result := bind(b).Reconcile(context.Background(), workflow.Subject[Site]{})
	row := result.Node("member-disk", "b")
	fmt.Println(row.State, row.Reason, row.Message)
	// Output:
	// create member-disk canary
	// create member-server canary
	// create member-disk a
	// create member-server a
	// Waiting InOrder it waits until key "a" is ready
}

// AtLeast lets what depends on all go on with some.
func ExampleRepeated_AtLeast() {
	hosts, keys := Hosts{}, []string{"a", "b", "c"}
	b := workflow.NewBuilder[Site]("site")
	all := members(b, hosts, &keys).AtLeast(2)
	all.Nodes.server.ReadyWhen("up", func(r visit, _ string) workflow.Verdict {
		return workflow.If(r.Key() != "c", "Starting", "it starts")
	})
	workflow.Add(b, "balancer", hosts).DependsOn(all)
	result := bind(b).Reconcile(context.Background(), workflow.Subject[Site]{})
	fmt.Println(result.Node("balancer").State, result.Ready())
	// Output:
	// create member-disk a
	// create member-disk b
	// create member-disk c
	// create member-server a
	// create member-server b
	// create member-server c
	// create balancer
	// Ready false
}

// MaxUnavailable changes what stands and is ready only so many at a time; here one waits for another that is broken.
func ExampleRepeated_MaxUnavailable() {
	w, image := newWorld(), "1"
	b := workflow.NewBuilder[*primary]("site")
	workflow.Repeat(b, "server", func(run) ([]string, error) { return []string{"a", "b"}, nil },
		func(b *workflow.Builder[*primary], _ workflow.Key[*primary, string]) any {
			return workflow.Add(b, "pod", object{world: w, want: func(run) string { return image }})
		}).MaxUnavailable(1)
	site, err := b.Build()
	if err != nil {
		fmt.Println(err)
		return
	}
	runner, err := workflow.NewRunner(site, nil, workflow.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	runner.Reconcile(context.Background(), subject)
	image, w.broken["server-pod[a]"] = "2", true
	result := runner.Reconcile(context.Background(), subject)
	for _, key := range []string{"a", "b"} {
		row := result.Node("server-pod", key)
		fmt.Println(row.Name, row.Key, row.State, row.Reason)
	}
	// Output:
	// server-pod a NotReady Broken
	// server-pod b Waiting MaxUnavailable
}

// A whole group is one prerequisite.
func ExampleBuilder_All() {
	hosts := Hosts{}
	b := workflow.NewBuilder[Site]("site")
	storage := b.Group("storage")
	workflow.Add(storage, "disk", hosts)
	workflow.Add(storage, "backup", hosts).
		ReadyWhen("done", func(visit, string) workflow.Verdict { return workflow.Unmet("Running", "it runs") })
	workflow.Add(b, "web", hosts).DependsOn(storage.All())
	show(b)
	// Output:
	// create storage-disk
	// create storage-backup
	// site
	// ├─ storage-disk             ✔ Ready
	// │  └─ web ← storage-backup  · Blocked    waits for storage-backup
	// └─ storage-backup           ◐ NotReady   Running: it runs
}

// Folded shows groups and Repeats as one node each.
func ExamplePicture_Folded() {
	hosts, keys := Hosts{}, []string{"a", "b", "c"}
	b := workflow.NewBuilder[Site]("site")
	workflow.Add(b, "balancer", hosts).DependsOn(members(b, hosts, &keys))
	site, err := b.Build()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(site.Picture().Folded().Tree(workflow.TreeOptions{}))
	// Output:
	// site
	// └─ member (3)
	//    └─ balancer
}

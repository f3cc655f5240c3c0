// SPDX-License-Identifier: Apache-2.0

package workflow_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/espalier-dev/espalier/workflow"
)

// Site is a primary: what somebody wants.
type Site struct{ Name, Host string }

// Host is a kind of node: a machine in a toy world, which is a set of names.
type Host struct {
	World map[string]bool
	Name  string
}

func (h Host) Bind(any) (workflow.Resource[Site, string], error) { return h, nil }

func (h Host) Observe(*workflow.Run[Site]) (string, workflow.Presence, error) {
	if h.World[h.Name] {
		return h.Name, workflow.Present, nil
	}
	return "", workflow.Absent, nil
}

func (h Host) Prepare(*workflow.Run[Site]) (workflow.Step[string], error) {
	if h.World[h.Name] { // nothing to do: no goroutine, no I/O
		return workflow.Step[string]{Value: h.Name, Ready: workflow.Met()}, nil
	}
	return workflow.Step[string]{Do: func(context.Context) (workflow.Outcome[string], error) {
		h.World[h.Name] = true
		fmt.Println("create", h.Name)
		return workflow.Outcome[string]{Value: h.Name, Ready: workflow.Met(), Operation: workflow.Create}, nil
	}}, nil
}

func (h Host) Delete(*workflow.Run[Site]) (workflow.Removal, error) {
	if !h.World[h.Name] {
		return workflow.Removal{Gone: true}, nil
	}
	return workflow.Removal{Do: func(context.Context) (workflow.Removal, error) {
		delete(h.World, h.Name)
		fmt.Println("delete", h.Name)
		return workflow.Removal{Gone: true, Operation: workflow.Delete}, nil
	}}, nil
}

func Example() {
	world := map[string]bool{}
	b := workflow.NewBuilder[Site]("site")
	database := workflow.Add(b, "database", Host{world, "database"})
	web := workflow.Add(b, "web", Host{world, "web"}).DependsOn(database)
	workflow.Value(b, "address", func(r *workflow.Run[Site]) (string, error) {
		return web.Get(r) + "." + r.Primary().Host, nil
	}).DependsOn(web)
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
	shop := workflow.Subject[Site]{Primary: Site{Name: "shop", Host: "example.com"}, ID: "1"}
	for range 2 { // the second run has nothing to do
		result := runner.Reconcile(context.Background(), shop)
		fmt.Println("ready:", result.Ready())
	}
	result := runner.Cleanup(context.Background(), shop)
	fmt.Println("complete:", result.Complete())
	// Output:
	// create database
	// create web
	// ready: true
	// ready: true
	// delete web
	// delete database
	// complete: true
}

func ExampleBuilder_Build() {
	b := workflow.NewBuilder[Site]("site")
	web := workflow.Add(b, "web", Host{})
	database := workflow.Add(b, "database", Host{}).DependsOn(web)
	web.DependsOn(database)
	workflow.Add(b, "Cache", Host{})
	_, err := b.Build()
	fmt.Println(err)
	var cycle *workflow.BuildError
	fmt.Println(errors.As(err, &cycle))
	// Output:
	// building workflow "site": node "Cache": the name isn't a DNS label: 1 to 63 of a-z, 0-9 and -, the first and the last not a -
	// web → database → web: these wait for each other: remove one of the edges
	// true
}

func ExampleOptional() {
	world := map[string]bool{"cache": true, "web": true}
	b := workflow.NewBuilder[Site]("site")
	cache := workflow.Add(b, "cache", Host{world, "cache"}).
		ReconcileWhen("cached", func(*workflow.Run[Site]) workflow.Verdict {
			return workflow.Unmet("NotCached", "the site has no cache any more")
		})
	workflow.Value(b, "settings", func(r *workflow.Run[Site]) (string, error) {
		name, ok := cache.Lookup(r)
		fmt.Printf("settings with cache %q: %v\n", name, ok)
		return name, nil
	}).DependsOn(workflow.Optional(cache))
	site, err := b.Build()
	if err != nil {
		fmt.Println(err)
		return
	}
	runner, err := workflow.NewRunner(site, nil, workflow.Options{MaxConcurrent: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	result := runner.Reconcile(context.Background(), workflow.Subject[Site]{})
	fmt.Print(result.Picture().Tree(workflow.TreeOptions{}))
	// Output:
	// settings with cache "": false
	// delete cache
	// site
	// └─ cache        ○ Disabled   NotCached: the site has no cache any more
	//    └─ settings  ✔ Ready
}

func ExampleToCreate() {
	world := map[string]bool{"web": true}
	blips := func(*workflow.Run[Site], string) workflow.Verdict {
		return workflow.Unmet("Blip", "the database is restarting")
	}
	b := workflow.NewBuilder[Site]("site")
	database := workflow.Add(b, "database", Host{world, "database"}).ReadyWhen("up", blips)
	workflow.Add(b, "web", Host{world, "web"}).DependsOn(workflow.ToCreate(database))
	workflow.Add(b, "worker", Host{world, "worker"}).DependsOn(workflow.ToCreate(database))
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
	result := runner.Reconcile(context.Background(), workflow.Subject[Site]{})
	fmt.Print(result.Picture().Tree(workflow.TreeOptions{}))
	// Output:
	// create database
	// site
	// └─ database   ◐ NotReady   Blip: the database is restarting
	//    ├─ web     ✔ Ready
	//    └─ worker  · Blocked    waits for database
}

// SPDX-License-Identifier: Apache-2.0

package workflow_test

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/espalier-dev/espalier/workflow"
)

// Site is a primary: what somebody wants.
type Site struct {
	Domain   string
	Replicas int
}

// visit is one run for a Site.
type visit = *workflow.Run[Site]

// Hosts is a kind of node: a machine that is called like its node. It is also the world, the set of those that stand.
type Hosts map[string]bool

func (h Hosts) Bind(any) (workflow.Resource[Site, string], error) { return h, nil }

func (h Hosts) Observe(r visit) (string, workflow.Presence, error) {
	if name := title(r); h[name] {
		return name, workflow.Present, nil
	}
	return "", workflow.Absent, nil
}

func (h Hosts) Prepare(r visit) (workflow.Step[string], error) {
	name := title(r)
	if h[name] { // nothing to do: no goroutine, no I/O
		return workflow.Step[string]{Value: name, Ready: workflow.Met()}, nil
	}
	return workflow.Step[string]{Do: func(context.Context) (workflow.Outcome[string], error) {
		h[name] = true
		fmt.Println("create", name)
		return workflow.Outcome[string]{Value: name, Ready: workflow.Met(), Operation: workflow.Create}, nil
	}}, nil
}

func (h Hosts) Delete(r visit) (workflow.Removal, error) {
	name := title(r)
	if !h[name] {
		return workflow.Removal{Gone: true}, nil
	}
	return workflow.Removal{Do: func(context.Context) (workflow.Removal, error) {
		delete(h, name)
		fmt.Println("delete", name)
		return workflow.Removal{Gone: true, Operation: workflow.Delete}, nil
	}}, nil
}

// Keys makes it fit for a Repeat.
func (h Hosts) Keys(r visit) (keys []string, _ error) {
	for name := range h {
		if key, ok := strings.CutPrefix(name, r.Node()+" "); ok {
			keys = append(keys, key)
		}
	}
	return keys, nil
}

// title is the name of the node, with the key of the instance if it is repeated.
func title(r visit) string { return strings.TrimSpace(r.Node() + " " + r.Key()) }

// bind builds a workflow and makes a Runner of it that executes one node at a time.
func bind(b *workflow.Builder[Site]) *workflow.Runner[Site] {
	site, err := b.Build()
	if err != nil {
		panic(err)
	}
	runner, err := workflow.NewRunner(site, nil, workflow.Options{MaxConcurrent: 1})
	if err != nil {
		panic(err)
	}
	return runner
}

// show builds a workflow, reconciles a site and prints what came of it.
func show(b *workflow.Builder[Site]) {
	result := bind(b).Reconcile(context.Background(), workflow.Subject[Site]{})
	fmt.Print(result.Picture().Tree(workflow.TreeOptions{}))
}

func Example() {
	hosts := Hosts{}
	b := workflow.NewBuilder[Site]("site")
	database := workflow.Add(b, "database", hosts)
	web := workflow.Add(b, "web", hosts).DependsOn(database)
	workflow.Value(b, "address", func(r visit) (string, error) {
		return web.Get(r) + "." + r.Primary().Domain, nil
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
	shop := workflow.Subject[Site]{Primary: Site{Domain: "example.com"}, ID: "shop"}
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
	web := workflow.Add(b, "web", Hosts{})
	database := workflow.Add(b, "database", Hosts{}).DependsOn(web)
	web.DependsOn(database)
	workflow.Add(b, "Cache", Hosts{})
	_, err := b.Build()
	fmt.Println(err)
	if mistake, ok := errors.AsType[*workflow.BuildError](err); ok {
		fmt.Println("first:", mistake.Mistake)
	}
	// Output:
	// building workflow "site": node "Cache": the name isn't a DNS label: 1 to 63 of a-z, 0-9 and -, the first and the last not a -
	// web → database → web: these wait for each other: remove one of the edges
	// first: invalid-name
}

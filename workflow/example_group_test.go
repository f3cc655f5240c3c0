// SPDX-License-Identifier: Apache-2.0

package workflow_test

import (
	"github.com/espalier-dev/espalier/workflow"
)

// Stack holds the handles of a part of a graph that is used more than once.
type Stack[P any] struct {
	Database, Web *workflow.Node[P, string]
}

// NewStack declares the part through a builder. It fits any primary that the kind of its nodes fits.
func NewStack[P any](b *workflow.Builder[P], host workflow.Kind[P, string]) Stack[P] {
	database := workflow.Add(b, "database", host)
	web := workflow.Add(b, "web", host).DependsOn(database)
	return Stack[P]{Database: database, Web: web}
}

// A reusable part of a graph is a function from a builder to a struct of handles. Groups keep its names apart.
func ExampleBuilder() {
	hosts := Hosts{}
	b := workflow.NewBuilder[Site]("site")
	blue := NewStack(b.Group("blue"), hosts)
	green := NewStack(b.Group("green"), hosts)
	workflow.Add(b, "router", hosts).DependsOn(blue.Web, green.Web)
	show(b)
	// Output:
	// create blue-database
	// create green-database
	// create blue-web
	// create green-web
	// create router
	// site
	// ├─ blue-database             ✔ Ready
	// │  └─ blue-web               ✔ Ready
	// │     └─ router ← green-web  ✔ Ready
	// └─ green-database            ✔ Ready
	//    └─ green-web              ✔ Ready
}

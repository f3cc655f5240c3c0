// SPDX-License-Identifier: Apache-2.0

package workflow_test

import (
	"fmt"

	"github.com/espalier-dev/espalier/workflow"
)

// Bucket is the handle of a kind of node that a third party offers. Refinements of its own and those of every node
// return the Bucket, so they chain in any order.
type Bucket[P any] struct {
	workflow.Base[P, string, *Bucket[P]]
	kind *bucket[P]
}

// NewBucket declares a bucket.
func NewBucket[P any](b *workflow.Builder[P], name string) *Bucket[P] {
	h := &Bucket[P]{kind: &bucket[P]{region: "anywhere"}}
	return workflow.Declare(b, name, h.kind, &h.Base, h)
}

// Region says where the bucket is.
func (b *Bucket[P]) Region(region string) *Bucket[P] {
	b.kind.region = region
	return b
}

type bucket[P any] struct{ region string }

func (k *bucket[P]) Bind(any) (workflow.Resource[P, string], error) { return k, nil }

func (k *bucket[P]) Observe(*workflow.Run[P]) (string, workflow.Presence, error) {
	return "", workflow.Absent, nil
}

func (k *bucket[P]) Prepare(r *workflow.Run[P]) (workflow.Step[string], error) {
	return workflow.Step[string]{Value: r.Node() + " in " + k.region, Ready: workflow.Met()}, nil
}

func (k *bucket[P]) Delete(*workflow.Run[P]) (workflow.Removal, error) {
	return workflow.Removal{Gone: true}, nil
}

func ExampleDeclare() {
	b := workflow.NewBuilder[Site]("site")
	logs := NewBucket(b, "logs")
	images := NewBucket(b, "images").DependsOn(logs).Region("Frankfurt").
		ReadyWhen("named", func(_ visit, name string) workflow.Verdict {
			return workflow.If(name != "", "Nameless", "it has no name")
		})
	workflow.Value(b, "report", func(r visit) (string, error) {
		fmt.Println(logs.Get(r))
		fmt.Println(images.Get(r))
		return "", nil
	}).DependsOn(images)
	show(b)
	// Output:
	// logs in anywhere
	// images in Frankfurt
	// site
	// └─ logs          ✔ Ready
	//    └─ images     ✔ Ready
	//       └─ report  ✔ Ready
}

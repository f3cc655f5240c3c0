// SPDX-License-Identifier: Apache-2.0

package workflow_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/espalier-dev/espalier/workflow"
)

// shape declares n nodes of a kind and the edges of a shape between them, and counts the edges.
func shape(b *testing.B, name string, n int, kind workflow.Kind[*primary, string]) (w *workflow.Workflow[*primary], edges int) {
	b.Helper()
	builder := workflow.NewBuilder[*primary]("shape")
	nodes := make([]handle, n)
	random := rand.New(rand.NewPCG(1, 2))
	for i := range nodes {
		nodes[i] = workflow.Add(builder, fmt.Sprintf("n%d", i), kind)
		for _, k := range prerequisites(name, i, random) {
			nodes[i].DependsOn(nodes[k])
			edges++
		}
	}
	w, err := builder.Build()
	if err != nil {
		b.Fatal(err)
	}
	return w, edges
}

// prerequisites are those of the node at index i.
func prerequisites(shape string, i int, random *rand.Rand) (out []int) {
	switch {
	case i == 0:
	case shape == "chain":
		out = append(out, i-1)
	case shape == "fan":
		out = append(out, 0)
	case shape == "layers" && i >= 10: // of ten, each connected with all of the layer before
		for k := range 10 {
			out = append(out, (i/10-1)*10+k)
		}
	case shape == "sparse":
		for range random.IntN(4) {
			out = append(out, random.IntN(i))
		}
	}
	return out
}

// BenchmarkNothingToDo is a run in which no node has anything to do, beside a loop that calls the same functions.
func BenchmarkNothingToDo(b *testing.B) {
	idle := thing{}
	for _, name := range []string{"chain", "fan", "layers", "sparse"} {
		for _, n := range []int{10, 100, 1000, 10_000, 100_000} {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				w, edges := shape(b, name, n, idle)
				runner, err := workflow.NewRunner(w, nil, workflow.Options{})
				if err != nil {
					b.Fatal(err)
				}
				subject := workflow.Subject[*primary]{Primary: &primary{}, ID: "a"}
				b.ReportAllocs()
				for b.Loop() {
					if !runner.Reconcile(context.Background(), subject).Ready() {
						b.Fatal("it isn't ready")
					}
				}
				ns := float64(b.Elapsed().Nanoseconds()) / float64(b.N)
				b.ReportMetric(ns/float64(n), "ns/node")
				b.ReportMetric((ns-300*float64(n))/float64(max(edges, 1)), "ns/edge-beyond-300/node")
			})
		}
	}
}

// BenchmarkIO is a run in which every node executes a Do that does nothing.
func BenchmarkIO(b *testing.B) {
	busy := thing{do: func(context.Context) (workflow.Outcome[string], error) {
		return workflow.Outcome[string]{Ready: workflow.Met()}, nil
	}}
	for _, n := range []int{10, 1000, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			w, _ := shape(b, "none", n, busy)
			runner, err := workflow.NewRunner(w, nil, workflow.Options{})
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				runner.Reconcile(context.Background(), workflow.Subject[*primary]{})
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/node")
		})
	}
}

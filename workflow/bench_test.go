// SPDX-License-Identifier: Apache-2.0

package workflow_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/espalier-dev/espalier/workflow"
)

// idle is a kind with nothing to do; busy one whose Do does nothing.
type idle struct{}

func (idle) Bind(any) (workflow.Resource[*primary, *primary], error) { return idle{}, nil }

func (idle) Observe(run) (*primary, workflow.Presence, error) { return nil, workflow.Absent, nil }

func (idle) Prepare(r run) (workflow.Step[*primary], error) {
	return workflow.Step[*primary]{Value: r.Primary(), Ready: workflow.Met()}, nil
}

func (idle) Delete(run) (workflow.Removal, error) { return workflow.Removal{Gone: true}, nil }

func (idle) Keys(run) ([]string, error) { return nil, nil }

type busy struct{ idle }

func (busy) Bind(any) (workflow.Resource[*primary, *primary], error) { return busy{}, nil }

func (busy) Prepare(run) (workflow.Step[*primary], error) {
	return workflow.Step[*primary]{Do: func(context.Context) (workflow.Outcome[*primary], error) {
		return workflow.Outcome[*primary]{Ready: workflow.Met()}, nil
	}}, nil
}

var (
	sizes = []int{10, 100, 1000, 10_000, 100_000}
	of    = workflow.Subject[*primary]{Primary: &primary{}, ID: "a"}
)

// shape declares n nodes of a kind and the edges of a shape between them, and counts the edges.
func shape(name string, n int, kind workflow.Kind[*primary, *primary]) (b *workflow.Builder[*primary], edges int) {
	b = workflow.NewBuilder[*primary]("shape")
	nodes := make([]*workflow.Node[*primary, *primary], n)
	random := rand.New(rand.NewPCG(1, 2))
	for i := range nodes {
		nodes[i] = workflow.Add(b, "n"+strconv.Itoa(i), kind)
		for _, k := range prerequisites(name, i, random) {
			nodes[i].DependsOn(nodes[k])
			edges++
		}
	}
	return b, edges
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

func shaped(b *testing.B, name string, n int, kind workflow.Kind[*primary, *primary]) (r *workflow.Runner[*primary], edges int) {
	b.Helper()
	builder, edges := shape(name, n, kind)
	return bound(b, builder), edges
}

func bound(b *testing.B, builder *workflow.Builder[*primary]) *workflow.Runner[*primary] {
	b.Helper()
	w, err := builder.Build()
	if err != nil {
		b.Fatal(err)
	}
	r, err := workflow.NewRunner(w, nil, workflow.Options{})
	if err != nil {
		b.Fatal(err)
	}
	return r
}

// plain is what the runs are compared with: a loop that calls the same functions and fills in the same rows.
func plain(kind workflow.Resource[*primary, *primary], r run, names []string) []workflow.NodeResult {
	rows := make([]workflow.NodeResult, len(names))
	for i := range rows {
		rows[i].Name = names[i]
		if step, err := kind.Prepare(r); err == nil && step.Ready.Holds() {
			rows[i].State = workflow.Ready
		}
	}
	return rows
}

// BenchmarkNothingToDo measures in turns, a block of each, a run of a graph without edges, one of the shape, and the
// plain loop. An edge costs what the shape's run takes longer.
func BenchmarkNothingToDo(b *testing.B) {
	for _, name := range []string{"chain", "fan", "layers", "sparse"} {
		for _, n := range sizes {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				bare, _ := shaped(b, "none", n, idle{})
				runner, edges := shaped(b, name, n, idle{})
				var view run
				names := make([]string, n)
				first := bare.Reconcile(b.Context(), workflow.Subject[*primary]{Summarize: func(r run, _ *workflow.Result) { view = r }})
				for i, row := range first.Nodes {
					names[i] = row.Name
				}
				block := max(20_000/n, 1)
				took := func(do func()) float64 {
					began := time.Now()
					for range block {
						do()
					}
					return float64(time.Since(began).Nanoseconds())
				}
				var without, with, loop float64
				for b.Loop() {
					without += took(func() { bare.Reconcile(b.Context(), of) })
					with += took(func() { runner.Reconcile(b.Context(), of) })
					loop += took(func() { plain(idle{}, view, names) })
				}
				runs := float64(b.N) * float64(block)
				b.ReportMetric(0, "ns/op")
				b.ReportMetric(without/runs/float64(n), "ns/node")
				b.ReportMetric((with-without)/runs/float64(max(edges, 1)), "ns/edge")
				b.ReportMetric(with/loop, "x-plain-loop")
			})
		}
	}
}

// BenchmarkAllocations are those of a run in which no node has anything to do.
func BenchmarkAllocations(b *testing.B) {
	for _, n := range sizes {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			runner, _ := shaped(b, "layers", n, idle{})
			b.ReportAllocs()
			for b.Loop() {
				runner.Reconcile(b.Context(), of)
			}
		})
	}
}

// BenchmarkIO is a run in which every node executes a Do that does nothing.
func BenchmarkIO(b *testing.B) {
	for _, n := range sizes {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			runner, _ := shaped(b, "none", n, busy{})
			b.ReportAllocs()
			for b.Loop() {
				runner.Reconcile(b.Context(), of)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/node")
		})
	}
}

// BenchmarkPlanning is the first part of a run alone.
func BenchmarkPlanning(b *testing.B) {
	for _, n := range sizes {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			runner, _ := shaped(b, "layers", n, idle{})
			for b.Loop() {
				workflow.PlanOnly(b.Context(), runner, of)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/node")
		})
	}
}

// BenchmarkTwelveLayers is the graph on which a peer took 51 seconds: twelve layers of four, each connected with all of
// the layer before.
func BenchmarkTwelveLayers(b *testing.B) {
	builder := workflow.NewBuilder[*primary]("layers")
	nodes := make([]*workflow.Node[*primary, *primary], 48)
	for i := range nodes {
		nodes[i] = workflow.Add(builder, "n"+strconv.Itoa(i), idle{})
		for k := range 4 {
			if i >= 4 {
				nodes[i].DependsOn(nodes[(i/4-1)*4+k])
			}
		}
	}
	runner := bound(b, builder)
	for b.Loop() {
		runner.Reconcile(b.Context(), of)
	}
}

// BenchmarkRepeat is a run of ten nodes per key.
func BenchmarkRepeat(b *testing.B) {
	for _, n := range []int{1, 10, 100, 1000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			keys := make([]string, n)
			for i := range keys {
				keys[i] = strconv.Itoa(i)
			}
			builder := workflow.NewBuilder[*primary]("repeat")
			workflow.Repeat(builder, "part", func(run) ([]string, error) { return keys, nil },
				func(b *workflow.Builder[*primary], _ workflow.Key[*primary, string]) any {
					last := workflow.Add(b, "first", idle{})
					for i := range 9 {
						last = workflow.Add(b, "n"+strconv.Itoa(i), idle{}).DependsOn(last)
					}
					return nil
				})
			runner := bound(b, builder)
			b.ReportAllocs()
			for b.Loop() {
				runner.Reconcile(b.Context(), of)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(10*n), "ns/instance")
		})
	}
}

// BenchmarkManyPrimaries are runs of ten nodes for different primaries on all processors.
func BenchmarkManyPrimaries(b *testing.B) {
	runner, _ := shaped(b, "chain", 10, idle{})
	var primaries atomic.Int64
	b.RunParallel(func(pb *testing.PB) {
		subject := workflow.Subject[*primary]{Primary: &primary{}, ID: strconv.FormatInt(primaries.Add(1), 10)}
		for pb.Next() {
			runner.Reconcile(context.Background(), subject)
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "runs/s")
}

// BenchmarkBuild declares and checks a graph.
func BenchmarkBuild(b *testing.B) {
	for _, n := range sizes {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			for b.Loop() {
				builder, _ := shape("sparse", n, idle{})
				if _, err := builder.Build(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/node")
		})
	}
}

// BenchmarkPictures renders a result.
func BenchmarkPictures(b *testing.B) {
	for _, n := range []int{100, 1000} {
		runner, _ := shaped(b, "sparse", n, idle{})
		result := runner.Reconcile(b.Context(), of)
		for name, render := range map[string]func(){
			"tree":    func() { result.Picture().Tree(workflow.TreeOptions{}) },
			"mermaid": func() { result.Picture().Mermaid() },
			"dot":     func() { result.Picture().DOT() },
		} {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				for b.Loop() {
					render()
				}
			})
		}
	}
}

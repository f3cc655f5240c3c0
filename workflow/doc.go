// SPDX-License-Identifier: Apache-2.0

// Package workflow runs a directed acyclic graph of nodes for one primary at a time.
//
// # Declaring
//
// A [Builder] collects nodes; [Builder.Build] checks them all and returns an immutable [Workflow]. Each node has a
// handle, through which it is refined and read:
//
//	database := workflow.Add(b, "database", kind).DependsOn(config)
//	web := workflow.Add(b, "web", kind).
//		DependsOn(workflow.ToCreate(database)).
//		ReconcileWhen("wanted", func(r run) workflow.Verdict { … })
//
// What a node does is a [Kind]. [Value] computes; [Repeat] declares a part of the graph once and runs it once per key;
// [OnCleanup] declares what exists only while the primary is being deleted; [Builder.Group] makes parts that are used
// again.
//
// # Running
//
// [NewRunner] binds a workflow to an environment: each Kind becomes a live [Resource]. The [Runner] runs the graph as
// often as asked, for as many primaries as there are, concurrently.
//
// A run first plans: it asks which nodes are active and wanted, before anything is touched. Then each wanted node is
// reconciled as soon as its edges are satisfied, and judged on what came back; each unwanted one is deleted once nobody
// holds it any longer. [Runner.Cleanup] deletes everything in reverse order. [Runner.Plan] does nothing, and says what
// would be done. The [Result] says what happened to every node, and why: root causes, not neighbours.
//
// # Reading
//
// A node's functions see the primary, and what other nodes yield: with Get along required edges, with Lookup also what
// may not be there. In conditions that are asked in the plan, Lookup is what is observed in the world. Reading what
// isn't declared fails the reader, with both names.
//
// # Guarantees
//
//   - Nothing is written before every edge of its node is satisfied.
//   - Nothing is deleted while something holds it, nor because a question could not be answered.
//   - An error or a panic stops only what depends on its node; the rest goes on.
//   - Every run ends, and what it started has ended by then, but for functions that don't return after their time.
//   - With MaxConcurrent 1 a run is deterministic.
//   - A node with nothing to do costs no goroutine and no allocation of its own.
//
// The package knows no Kubernetes: the primary may be of any type. It keeps no history and stores nothing: what a
// Runner remembers are hints, and losing them costs time, never correctness.
package workflow

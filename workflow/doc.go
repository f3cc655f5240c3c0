// SPDX-License-Identifier: Apache-2.0

// Package workflow runs a directed acyclic graph of nodes for one primary at a time.
//
// A [Builder] collects nodes; [Builder.Build] checks them all and returns an immutable [Workflow]. What a node does is
// a [Kind]. [NewRunner] binds a workflow to an environment: each Kind becomes a live [Resource], and the [Runner] runs
// the graph as often as asked, for as many primaries as there are, concurrently.
//
// A run first plans: it asks which nodes are active and wanted, before anything is touched. Then each wanted node is
// reconciled as soon as what it depends on is ready, and each unwanted one is deleted once nobody holds it any longer.
// [Runner.Cleanup] deletes everything in reverse order. The [Result] says what happened to every node, and why.
//
// What the package guarantees:
//
//   - nothing is written before every edge of its node is satisfied;
//   - nothing is deleted while something holds it, nor because a question could not be answered;
//   - an error or a panic stops only what depends on its node;
//   - every exported function is synchronous, and with MaxConcurrent 1 a run is deterministic.
//
// It knows no Kubernetes: the primary may be of any type. It keeps no history and stores nothing: what a Runner
// remembers are hints, and losing them costs time, never correctness.
package workflow

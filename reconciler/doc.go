// SPDX-License-Identifier: Apache-2.0

// Package reconciler makes a controller of a workflow.
//
// [New] takes a graph, and [Reconciler.SetupWithManager] binds it to a controller-runtime manager: it watches the
// primary and every kind that the graph manages, and runs the graph whenever one of them changes. The primary's status
// is output: it is taken off the primary before nodes see it, and at the end of a run written in one patch, unless it
// says the same already.
//
// What the package guarantees:
//
//   - at rest no request is sent, heartbeats of dependents included;
//   - one status write per run at most, by server-side apply of its own fields: conditions of others survive where the
//     schema has conditions as listType=map with the key type, as it should;
//   - the observedGeneration is that of the run, whatever has happened to the spec meanwhile;
//   - a finalizer is set only if the run itself has to delete something, before anything is created, and goes only when
//     nothing is left;
//   - waiting is never an error, and a failed node has its own backoff.
//
// It doesn't hide the manager: caches, leader election, webhooks and metrics are set up as ever.
package reconciler

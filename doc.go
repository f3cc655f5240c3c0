// SPDX-License-Identifier: Apache-2.0

// Package espalier is the root of a library for Kubernetes operators. It has no code of its own:
//
//   - workflow: the graph and its scheduler; knows no Kubernetes
//   - dependent: kinds of node that manage Kubernetes objects
//   - reconciler: a workflow as a controller-runtime controller
//   - envtest: a real control plane for tests, and the test kit
//
// The flow of one reconcile:
//
//	primary ─▶ reconciler ─▶ workflow ─▶ dependent ─▶ API server
//	               ▲             │
//	               └── result ◀──┘
//
// An author declares the resources that a primary owns as the nodes of a directed acyclic graph. At every reconcile the
// graph is run: each node as soon as what it needs is ready, deletions in reverse, and one status patch says what
// happened. When nothing has changed, no request is sent.
package espalier

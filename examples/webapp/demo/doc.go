// SPDX-License-Identifier: Apache-2.0

// Package main shows an operator at work: it starts a control plane of its own, runs the operator of examples/webapp
// under its own role, and drives it through creation, changes, repairs, rest and deletion, while it counts every
// request that the operator sends. Run it from the root of the repository: make demo.
package main

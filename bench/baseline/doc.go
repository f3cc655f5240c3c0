// SPDX-License-Identifier: Apache-2.0

// Package baseline is the operator of WebApps as it would be written by hand: an idiomatic controller-runtime
// reconciler with CreateOrUpdate, a finalizer, requeues and a status update. It makes the same objects as
// examples/webapp/graph.
//
// It is what the library is measured against, and what the guide "Migrating from CreateOrUpdate" starts from. It isn't
// an example of how to write an operator.
package baseline

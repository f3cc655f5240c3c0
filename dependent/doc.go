// SPDX-License-Identifier: Apache-2.0

// Package dependent holds the kinds of node that know Kubernetes objects.
//
// [Apply], [Typed] and [Unstructured] declare a node that manages one object by server-side apply; [Generate] one
// whose values are made once and kept; [ForEach] one object per key; [Reference] and [References] read what somebody
// else has. Each yields the observed object, typed, to the nodes that depend on it. Observed objects are shared with
// the cache: they are read-only. [Policies] refine what happens in trouble.
//
// What the package guarantees:
//
//   - an object is written only if that changes something; at rest no request is sent;
//   - only what the author sets is owned: what the server defaults or others add is left alone;
//   - an object that is somebody else's is refused, and named, never taken over silently;
//   - an object is deleted only by the UID under which it was seen, and found by its labels, never by the author's
//     function;
//   - absence is never concluded from an error, or from a cache that hasn't synced.
//
// Kinds bind to an [Engine], which stands for a cluster and remembers what was written; package reconciler makes one
// for each controller. The package knows objects, not controllers: see [Engine.Watch] for who is to be told of what.
package dependent

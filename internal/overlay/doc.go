// SPDX-License-Identifier: Apache-2.0

// Package overlay lets one read one's own writes from a cache without waiting: it keeps the answer of each write until
// the cache has caught up with it. Entries live for milliseconds; losing them costs a request, never correctness.
package overlay

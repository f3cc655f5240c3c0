// SPDX-License-Identifier: Apache-2.0

// Package owned judges, from the managed fields of a live object alone, whether a server-side apply would change it.
//
// The API server has already applied the schema to the entry of a field manager: which lists are associative, which
// values are atomic. Walking that entry in step with an intent and the live object therefore needs no schema. The
// answer may err on one side only: a doubt says that the apply would change something, and costs one request.
package owned

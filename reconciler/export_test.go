// SPDX-License-Identifier: Apache-2.0

package reconciler

// Legal turns any text into a reason that the schema of conditions takes.
func Legal(reason string) string { return legal(reason) }

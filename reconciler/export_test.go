// SPDX-License-Identifier: Apache-2.0

package reconciler

import "github.com/espalier-dev/espalier/workflow"

// Legal turns any text into a reason that the schema of conditions takes.
func Legal(reason string) string { return legal(reason) }

// RowsOf is the table of nodes in a status.
func RowsOf(result *workflow.Result) []any { return rowsOf(result) }

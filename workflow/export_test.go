// SPDX-License-Identifier: Apache-2.0

package workflow

import "context"

// PlanOnly classifies all nodes of a run and does nothing else, to measure that by itself.
func PlanOnly[P any](ctx context.Context, r *Runner[P], s Subject[P]) {
	x := r.newExecution(ctx, s, mode{})
	x.plan()
	x.giveBack(&r.scratch)
}

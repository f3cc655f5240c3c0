// SPDX-License-Identifier: Apache-2.0

package workflow

import (
	"context"
	"fmt"
)

// dryRunner is what a Resource may be: see [Resource].
type dryRunner[P any] interface {
	DryRun(ctx context.Context, r *Run[P]) (Preview, error)
}

// ReasonPlanned is the reason of a node that [Runner.Plan] would write or delete.
const ReasonPlanned = "Planned"

// Plan says what a Reconcile would do, and does nothing: the same result, with the Operation of each node that would be
// written or deleted, reason Planned, and its Diff if its Resource can tell. A node that reads what would change, or
// waits for it, is Unplanned, blocked by that. Conditions are asked; what the Runner remembers doesn't count, and isn't
// changed.
func (r *Runner[P]) Plan(ctx context.Context, s Subject[P]) *Result {
	x := r.newExecution(ctx, s, mode{dry: true})
	if err := x.validate(); err != nil {
		return x.refuse(err)
	}
	return x.run()
}

// preview asks a resource what it would do, and reports whether v has its state.
func (x *execution[P]) preview(v int32, t task) bool {
	if _, ok := x.resource(v).unwrap().(dryRunner[P]); ok {
		x.launch(x.newFlight(v, previewing))
		return false
	}
	f := &flight[P]{vertex: v, task: t, preview: &Preview{Operation: Update}}
	if x.existsNow(v) == missing {
		f.preview.Operation = Create
	}
	x.previewed(f)
	return true
}

// previewed fills in the row of a node that would be written.
func (x *execution[P]) previewed(f *flight[P]) {
	v, row := f.vertex, x.row(f.vertex)
	if f.err != nil {
		x.erred(v, question, fmt.Errorf("asking what would change: %w", f.err))
		return
	}
	x.marks[v].changes = true
	row.State, row.Reason, row.Message = NotReady, ReasonPlanned, "it would be written"
	row.Operation, row.Diff = f.preview.Operation, f.preview.Diff
}

// previewRemoval takes it that a deletion succeeds at once, so that what it holds is shown as going too.
func (x *execution[P]) previewRemoval(v int32) bool {
	row := x.row(v)
	row.State, row.Reason, row.Message, row.Operation = Deleting, ReasonPlanned, "it would be deleted", Delete
	x.marks[v].gone = true
	return true
}

// unplanned fills in the row of a blocked node, if what blocks it would change.
func (x *execution[P]) unplanned(v int32) {
	for _, cause := range x.cells[v].why.vertices {
		if m := &x.marks[cause]; m.changes || m.planned == unwanted && m.gone {
			x.row(v).State = Unplanned
			x.marks[v].changes = true
			return
		}
	}
}

// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/espalier-dev/espalier/envtest"
)

// summary prints a line per step.
func (d *demo) summary(took time.Duration) {
	d.screen.title("Summary")
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 0, 3, ' ', 0)
	_, _ = fmt.Fprintln(w, "step\tseconds\trequests\twrites\tof which status\truns that changed a state")
	for i := range d.outcomes {
		o := &d.outcomes[i]
		writes := o.requests.Where(envtest.Request.Write)
		_, _ = fmt.Fprintf(w, "%s\t%.1f\t%d\t%d\t%d\t%d\n",
			o.name, o.took.Seconds(), len(o.requests), len(writes), writes.Counts()[statusWrite], o.changes)
	}
	_ = w.Flush() // to memory
	d.screen.say("%s\nall of it in %.1f s", text.String(), took.Seconds())
}

// limits fails if a step cost more than it may: one write per object that changes, and one status per run in which a
// state changed, or the generation did.
func (d *demo) limits() error {
	var errs []error
	for i := range d.outcomes {
		o := &d.outcomes[i]
		counts := o.requests.Where(envtest.Request.Write).Counts()
		for _, operation := range slices.Sorted(maps.Keys(counts)) {
			most := o.most[operation]
			if operation == statusWrite {
				most = o.changes + 1
			}
			if counts[operation] > most {
				errs = append(errs, fmt.Errorf("step %q: %d × %s: want at most %d", o.name, counts[operation], operation, most))
			}
		}
	}
	return errors.Join(errs...)
}

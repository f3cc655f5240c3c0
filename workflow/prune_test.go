// SPDX-License-Identifier: Apache-2.0

package workflow_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/espalier-dev/espalier/workflow"
)

// leaver is a node that has left something behind.
type leaver struct {
	ready   workflow.Verdict
	removal workflow.Removal // what a look at it says
	fails   error            // of the Do that removes it
	removed *[]string
	hangs   chan struct{}
}

func (l *leaver) declare(b *workflow.Builder[*primary], name string) *workflow.Node[*primary, string] {
	return workflow.Add(b, name, thing{prepare: func(run) (workflow.Step[string], error) {
		return workflow.Step[string]{Ready: l.ready, Prune: func() (workflow.Removal, error) {
			if l.removal.Gone || l.removal.Reason != "" {
				return l.removal, nil
			}
			return workflow.Removal{Do: func(context.Context) (workflow.Removal, error) {
				if l.hangs != nil {
					<-l.hangs
				}
				*l.removed = append(*l.removed, name)
				return workflow.Removal{Gone: l.fails == nil, Operation: workflow.Delete}, l.fails
			}}, nil
		}}, nil
	}})
}

// What nodes have left goes at the end of the run, dependants first, if the node and all that depends on it are ready
// with what is there now.
func TestPrune(t *testing.T) { // R41
	type row = workflow.NodeResult
	for name, test := range map[string]struct {
		base, middle, top leaver
		removed           []string
		want              row // of base
	}{
		"all are ready": {removed: []string{"top", "middle", "base"}, want: row{State: workflow.Ready, Operation: workflow.Delete}},
		"a dependant isn't ready": {
			top: leaver{ready: workflow.Unmet("Starting", "wait")}, want: row{State: workflow.Ready},
		},
		"a dependant has something left": {
			middle: leaver{removal: workflow.Removal{Reason: "Terminating", Message: "it goes"}}, removed: []string{"top"},
			want: row{State: workflow.Ready},
		},
		"it isn't ready itself": {
			base: leaver{ready: workflow.Unmet("Starting", "wait")}, want: row{State: workflow.NotReady, Reason: "Starting"},
		},
		"it can't be removed": {
			base: leaver{fails: errors.New("no")}, removed: []string{"top", "middle", "base"},
			want: row{State: workflow.Failed, Reason: "Error"},
		},
		"it is protected": {
			base: leaver{removal: workflow.Removal{Reason: "DataProtected", Message: "it holds data"}}, removed: []string{"top", "middle"},
			want: row{State: workflow.Ready, Reason: "DataProtected"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var removed []string
			b := workflow.NewBuilder[*primary]("leavers")
			for _, l := range []*leaver{&test.base, &test.middle, &test.top} {
				l.removed = &removed
				if l.ready.String() == (workflow.Verdict{}).String() {
					l.ready = workflow.Met()
				}
			}
			base := test.base.declare(b, "base")
			middle := test.middle.declare(b, "middle").DependsOn(base)
			test.top.declare(b, "top").DependsOn(middle)
			result := newRunner(t, b, workflow.Options{}).Reconcile(t.Context(), subject)
			if !slices.Equal(removed, test.removed) {
				t.Errorf("removed %q, want %q", removed, test.removed)
			}
			got := result.Node("base")
			if got.State != test.want.State || got.Reason != test.want.Reason || got.Operation != test.want.Operation {
				t.Errorf("got %s, %q, operation %q; want %+v", got.State, got.Reason, got.Operation, test.want)
			}
		})
	}
}

// A cleanup finds all that a node has made anyway.
func TestNoPruneInCleanup(t *testing.T) { // R41
	var removed []string
	b := workflow.NewBuilder[*primary]("leavers")
	(&leaver{ready: workflow.Met(), removed: &removed}).declare(b, "base")
	newRunner(t, b, workflow.Options{OrderedDeletion: true}).Cleanup(t.Context(), subject)
	if len(removed) > 0 {
		t.Errorf("removed %q", removed)
	}
}

// A failure has its own delay, though the node is ready; one that hangs is abandoned, and the run ends.
func TestPruneFails(t *testing.T) { // R20 R24
	synctest.Test(t, func(t *testing.T) {
		var removed []string
		b := workflow.NewBuilder[*primary]("leavers")
		l := &leaver{ready: workflow.Met(), removed: &removed, fails: errors.New("no")}
		l.declare(b, "base")
		runner := newRunner(t, b, workflow.Options{})
		for range 3 {
			result := runner.Reconcile(t.Context(), subject)
			if row := result.Node("base"); row.State != workflow.Failed || row.RetryAfter == 0 {
				t.Errorf("got %+v", row)
			}
		}
		if len(removed) != 1 {
			t.Errorf("tried %d times within its delay", len(removed))
		}
		time.Sleep(10 * time.Second)
		l.fails = nil
		if row := runner.Reconcile(t.Context(), subject).Node("base"); row.State != workflow.Ready || row.Operation != workflow.Delete {
			t.Errorf("got %+v", row)
		}
		l.hangs = make(chan struct{})
		if row := runner.Reconcile(t.Context(), subject).Node("base"); row.Reason != "TimedOut" {
			t.Errorf("got %+v", row)
		}
		close(l.hangs)
	})
}

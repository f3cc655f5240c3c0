// SPDX-License-Identifier: Apache-2.0

package dependent_test

import (
	"maps"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/espalier-dev/espalier/dependent"
	"github.com/espalier-dev/espalier/workflow"
)

// Both policies, each where it holds and where the other does.
func TestDisposal(t *testing.T) { // R40 H3 J8
	policies := map[dependent.Disposal]string{
		dependent.Delete: "delete", dependent.Orphan: "orphan", dependent.Protect: "protect",
	}
	for unwanted, name := range policies {
		for primaryGoes, otherName := range policies {
			for _, goes := range []bool{false, true} {
				t.Run(name+" or "+otherName+map[bool]string{false: ", unwanted", true: ", primary deleted"}[goes], func(t *testing.T) {
					w, o := newWorld(t), &optional{settings: settings{data: map[string]string{"a": "1"}}}
					runner := w.runner(t, o.with(func(n settingsNode) {
						n.WhenUnwanted(unwanted).WhenPrimaryDeleted(primaryGoes)
					}), workflow.Options{OrderedDeletion: true})
					w.reconcile(t, runner)
					before := read[corev1.ConfigMap](t, w, "settings")
					w.sees(t, before)
					o.unwanted = true
					act, how := w.reconcile, unwanted
					if goes {
						act, how = w.cleanup, primaryGoes
					}
					row, sent := act(t, runner)
					switch how {
					case dependent.Delete:
						wantSent(t, sent, "delete configmaps")
						if !isGone(t, w, before) {
							t.Error("it is still there")
						}
					case dependent.Orphan:
						wantSent(t, sent, "patch configmaps")
						wantReleased(t, w, before, map[string]string{"a": "1"})
						if row.Operation != workflow.Release {
							t.Errorf("the operation is %q", row.Operation)
						}
						row, sent = act(t, runner) // the cache may show it still
						wantSent(t, sent)
						if row.State != workflow.Disabled && row.State != workflow.Deleted {
							t.Errorf("the node is %s", row.State)
						}
					case dependent.Protect:
						wantRow(t, row, workflow.Failed, "Protected")
						wantSent(t, sent)
						if now := read[corev1.ConfigMap](t, w, "settings"); now.ResourceVersion != before.ResourceVersion {
							t.Error("it was written")
						}
						if !strings.Contains(row.Message, `ConfigMap "settings" is protected`) {
							t.Errorf("the message is %q", row.Message)
						}
						if err := w.others.Delete(t.Context(), before); err != nil {
							t.Fatal(err)
						}
						w.misses(t, before)
						row, sent = act(t, runner)
						wantSent(t, sent)
						if row.State != workflow.Disabled && row.State != workflow.Deleted {
							t.Errorf("the node is %s", row.State)
						}
					}
				})
			}
		}
	}
}

// What may have to outlive its primary isn't left to the garbage collector.
func TestWhatStaysIsNotCollected(t *testing.T) { // R17 R40
	tests := []struct {
		name   string
		refine func(settingsNode)
		needs  bool
	}{
		{"deleted", func(n settingsNode) { n.WhenUnwanted(dependent.Orphan) }, false},
		{"orphaned", func(n settingsNode) { n.WhenPrimaryDeleted(dependent.Orphan) }, true},
		{"protected", func(n settingsNode) { n.WhenPrimaryDeleted(dependent.Protect) }, true},
		{"adopts", func(n settingsNode) { n.Adopt(dependent.IfUnowned) }, true},
		{"adopts, and deletes that too", func(n settingsNode) { n.Adopt(dependent.IfUnowned).DeleteAdopted() }, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w, o := newWorld(t), &optional{}
			runner := w.runner(t, o.with(test.refine))
			if runner.NeedsCleanup() != test.needs {
				t.Errorf("it needs a cleanup: %t, want %t", runner.NeedsCleanup(), test.needs)
			}
			w.reconcile(t, runner)
			if live := read[corev1.ConfigMap](t, w, "settings"); (len(live.OwnerReferences) == 0) != test.needs {
				t.Errorf("the owners are %v", live.OwnerReferences)
			}
		})
	}
}

// An object that is wanted again after it was released is somebody else's then.
func TestOrphanIsWantedAgain(t *testing.T) { // R34 R40
	for name, option := range map[string]func(settingsNode){
		"refused": func(settingsNode) {},
		"adopted": func(n settingsNode) { n.Adopt(dependent.IfUnowned) },
	} {
		t.Run(name, func(t *testing.T) {
			w, o := newWorld(t), &optional{settings: settings{data: map[string]string{"a": "1", "b": "1"}}}
			runner := w.runner(t, o.with(func(n settingsNode) { option(n.WhenUnwanted(dependent.Orphan)) }))
			w.reconcile(t, runner)
			w.sees(t, read[corev1.ConfigMap](t, w, "settings"))
			o.unwanted = true
			w.reconcile(t, runner)
			o.unwanted, o.data = false, map[string]string{"a": "2"}
			row, _ := w.reconcile(t, runner)
			now := read[corev1.ConfigMap](t, w, "settings")
			if name == "refused" {
				wantRow(t, row, workflow.Failed, "NotOwned")
				return
			}
			wantRow(t, row, workflow.Ready, "")
			if want := map[string]string{"a": "2", "b": "1"}; !maps.Equal(now.Data, want) {
				t.Errorf("it has %v, want %v: what was released isn't ours to remove", now.Data, want)
			}
		})
	}
}

// Somebody changes an object just before it is released: what they did stays.
func TestReleasedMeanwhile(t *testing.T) { // R40
	w, o := newWorld(t), &optional{settings: settings{data: map[string]string{"a": "1"}}}
	runner := w.runner(t, o.with(func(n settingsNode) { n.WhenUnwanted(dependent.Orphan) }))
	w.reconcile(t, runner)
	before := read[corev1.ConfigMap](t, w, "settings")
	w.sees(t, before)
	w.gate.shut()
	if err := w.others.Patch(t.Context(), before, client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"labels":{"x":"y"}}}`))); err != nil {
		t.Fatal(err)
	}
	o.unwanted = true
	row, sent := w.reconcile(t, runner)
	wantRow(t, row, workflow.Deleting, "Changed")
	wantSent(t, sent, "patch configmaps")
	w.gate.reopen()
	w.sees(t, before)
	row, sent = w.reconcile(t, runner)
	wantRow(t, row, workflow.Disabled, "NotWanted")
	wantSent(t, sent, "patch configmaps")
	if now := read[corev1.ConfigMap](t, w, "settings"); now.Labels["x"] != "y" || len(now.Labels) != 1 {
		t.Errorf("the labels are %v", now.Labels)
	}
}

// SPDX-License-Identifier: Apache-2.0

package dependent_test

import (
	"maps"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/cluster"

	"github.com/espalier-dev/espalier/dependent"
	v1 "github.com/espalier-dev/espalier/examples/webapp/api/v1"
	"github.com/espalier-dev/espalier/workflow"
)

// settingsNode is the handle of the ConfigMap of most tests.
type settingsNode = *dependent.Object[*v1.WebApp, *corev1.ConfigMap]

// with declares a ConfigMap that is wanted unless unwanted says otherwise, with policies.
func (o *optional) with(refine func(settingsNode)) func(builder) {
	return func(b builder) {
		node := dependent.Typed(b, "node", func(run) (*corev1.ConfigMap, error) { return o.object(), nil })
		node.ReconcileWhen("wanted", func(run) workflow.Verdict { return workflow.If(!o.unwanted, "NotWanted", "") })
		refine(node)
	}
}

// narrowed is an operator whose cache shows only what it tracks.
func narrowed(o *cluster.Options) {
	o.Cache.ByObject = map[client.Object]cache.ByObject{
		&corev1.ConfigMap{}: {Label: labels.SelectorFromSet(labels.Set{"espalier.dev/workflow": "webapp"})},
	}
}

// theirs makes a ConfigMap of somebody else, where the node wants its own.
func theirs(t *testing.T, w *world, change func(*corev1.ConfigMap)) *corev1.ConfigMap {
	t.Helper()
	obj := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: "settings", Namespace: w.namespace},
		Data:       map[string]string{"a": "theirs", "b": "theirs"},
	}
	if change != nil {
		change(obj)
	}
	w.create(t, obj)
	return obj
}

func ownedBy(name string, controller bool) func(*corev1.ConfigMap) {
	return func(obj *corev1.ConfigMap) {
		obj.OwnerReferences = []metav1.OwnerReference{
			{APIVersion: "v1", Kind: "ConfigMap", Name: name, UID: "uid-1", Controller: &controller},
		}
	}
}

func TestAdopt(t *testing.T) { // R33 R34 H3 H10
	tracked := func(obj *corev1.ConfigMap) {
		obj.Labels = map[string]string{
			"espalier.dev/owner": "uid-2", "espalier.dev/workflow": "webapp", "espalier.dev/node": "node",
		}
		obj.Annotations = map[string]string{"espalier.dev/primary": "bakery"}
	}
	const refuse, ifUnowned, always, control = 0, 1, 2, 3
	tests := []struct {
		name    string
		change  func(*corev1.ConfigMap)
		from    int // the first policy that adopts it
		message string
	}{
		{"nobody's", nil, ifUnowned, "Adopt(IfUnowned)"},
		{"an owner's", ownedBy("owner", false), always, `is owned by ConfigMap "owner"`},
		{"a controller's", ownedBy("boss", true), control, `is controlled by ConfigMap "boss"`},
		{"another primary's", tracked, control, "belongs to another primary, bakery, with UID uid-2"},
	}
	policies := []func(settingsNode){
		refuse:    func(settingsNode) {},
		ifUnowned: func(n settingsNode) { n.Adopt(dependent.IfUnowned) },
		always:    func(n settingsNode) { n.Adopt(dependent.Always) },
		control:   func(n settingsNode) { n.Adopt(dependent.Always).TakeControl() },
	}
	for _, test := range tests {
		for level, policy := range policies {
			for name, option := range map[string]cluster.Option{"": func(*cluster.Options) {}, ", in a narrowed cache": narrowed} {
				t.Run(test.name+[]string{", refuse", ", if unowned", ", always", ", control"}[level]+name, func(t *testing.T) {
					w, o := newWorld(t, option), &optional{settings: settings{data: map[string]string{"a": "1"}}}
					before := theirs(t, w, test.change)
					runner := w.runner(t, o.with(policy), workflow.Options{OrderedDeletion: true})
					row, _ := w.reconcile(t, runner)
					now := read[corev1.ConfigMap](t, w, "settings")
					if level < test.from {
						wantRow(t, row, workflow.Failed, "NotOwned")
						if now.ResourceVersion != before.ResourceVersion || !strings.Contains(row.Message, test.message) {
							t.Errorf("the message is %q; it was written: %t", row.Message, now.ResourceVersion != before.ResourceVersion)
						}
						return
					}
					wantRow(t, row, workflow.Ready, "")
					if row.Operation != workflow.Adopt || now.UID != before.UID {
						t.Errorf("the operation is %q", row.Operation)
					}
					if want := map[string]string{"a": "1", "b": "theirs"}; !maps.Equal(now.Data, want) {
						t.Errorf("the data is %v, want %v", now.Data, want)
					}
					if now.Labels["espalier.dev/owner"] != string(w.primary.UID) || now.Annotations["espalier.dev/adopted"] != "true" {
						t.Errorf("labels %v, annotations %v", now.Labels, now.Annotations)
					}
					for _, ref := range now.OwnerReferences {
						if ref.Controller != nil && *ref.Controller {
							t.Errorf("it is still controlled by %q", ref.Name)
						}
					}
					w.sees(t, now)
					for _, next := range []*world{w, w.restarted(t, option)} {
						row, sent := next.reconcile(t, next.runner(t, o.with(policy), workflow.Options{OrderedDeletion: true}))
						wantRow(t, row, workflow.Ready, "")
						wantSent(t, sent)
					}
				})
			}
		}
	}
}

// What was adopted is released, not deleted: when it isn't wanted any more, and when its primary goes.
func TestAdoptedIsReleased(t *testing.T) { // R34 H4
	for _, deletes := range []bool{false, true} {
		for _, how := range []string{"unwanted", "primary deleted", "the policy is gone"} {
			t.Run(how+map[bool]string{true: ", deleted"}[deletes], func(t *testing.T) {
				w, o := newWorld(t), &optional{settings: settings{data: map[string]string{"a": "1"}}}
				before := theirs(t, w, nil)
				policy := func(n settingsNode) {
					if n.Adopt(dependent.IfUnowned); deletes {
						n.DeleteAdopted()
					}
				}
				runner := w.runner(t, o.with(policy))
				w.sees(t, before)
				row, sent := w.reconcile(t, runner)
				wantRow(t, row, workflow.Ready, "")
				wantSent(t, sent, "apply configmaps")
				w.sees(t, read[corev1.ConfigMap](t, w, "settings"))
				switch how {
				case "unwanted":
					o.unwanted = true
					row, sent = w.reconcile(t, runner)
				case "primary deleted":
					ordered := w.restarted(t)
					row, sent = ordered.cleanup(t, ordered.runner(t, o.with(policy), workflow.Options{OrderedDeletion: true}))
				default:
					o.unwanted = true
					next := w.restarted(t)
					row, sent = next.reconcile(t, next.runner(t, o.with(func(n settingsNode) {
						if deletes {
							n.DeleteAdopted()
						}
					})))
				}
				if deletes {
					wantSent(t, sent, "delete configmaps")
					if !isGone(t, w, before) {
						t.Error("it is still there")
					}
					return
				}
				wantSent(t, sent, "patch configmaps")
				if row.Operation != workflow.Release || row.State != workflow.Disabled && row.State != workflow.Deleted {
					t.Errorf("the node is %s, operation %q, error %v", row.State, row.Operation, row.Err)
				}
				wantReleased(t, w, before, map[string]string{"a": "1", "b": "theirs"})
			})
		}
	}
}

// wantReleased wants an object to be there with its data, and with nothing that makes it ours.
func wantReleased(t *testing.T, w *world, before *corev1.ConfigMap, data map[string]string) {
	t.Helper()
	now := read[corev1.ConfigMap](t, w, before.Name)
	if now.UID != before.UID || !maps.Equal(now.Data, data) {
		t.Errorf("it has %v, want %v; the same object: %t", now.Data, data, now.UID == before.UID)
	}
	if len(now.Labels)+len(now.Annotations)+len(now.OwnerReferences) > 0 {
		t.Errorf("labels %v, annotations %v, owners %v", now.Labels, now.Annotations, now.OwnerReferences)
	}
	for _, m := range now.ManagedFields {
		if m.Manager == operator && m.Operation == metav1.ManagedFieldsOperationApply {
			t.Errorf("we still manage %s", m.FieldsV1)
		}
	}
}

// An adopted object never gets an owner reference: the collector would delete it with the primary.
func TestAdoptedHasNoOwner(t *testing.T) { // R34 H4
	w, o := newWorld(t), &optional{}
	before := theirs(t, w, nil)
	runner := w.runner(t, o.with(func(n settingsNode) { n.Adopt(dependent.IfUnowned) }))
	w.sees(t, before)
	w.reconcile(t, runner)
	w.sees(t, read[corev1.ConfigMap](t, w, "settings"))
	next := w.restarted(t)
	row, _ := next.reconcile(t, next.runner(t, o.with(func(settingsNode) {})))
	wantRow(t, row, workflow.Ready, "")
	if now := read[corev1.ConfigMap](t, w, "settings"); len(now.OwnerReferences) > 0 {
		t.Errorf("the owners are %v", now.OwnerReferences)
	}
}

// Of two primaries that adopt one object one gets it, also if neither cache shows what the other did.
func TestTwoAdopt(t *testing.T) { // R33 R34
	w, o := newWorld(t), &optional{}
	before := theirs(t, w, nil)
	policy := func(n settingsNode) { n.Adopt(dependent.IfUnowned) }
	runner := w.runner(t, o.with(policy))
	w.sees(t, before)
	other := w.restarted(t)
	other.primary = w.newPrimary(t, "bakery")
	otherRunner := other.runner(t, o.with(policy))
	other.sees(t, before)
	other.gate.shut()
	row, _ := w.reconcile(t, runner)
	wantRow(t, row, workflow.Ready, "")
	row, sent := other.reconcile(t, otherRunner)
	wantRow(t, row, workflow.Waiting, "Changed")
	wantSent(t, sent, "apply configmaps")
	now := read[corev1.ConfigMap](t, w, "settings")
	if now.Labels["espalier.dev/owner"] != string(w.primary.UID) {
		t.Errorf("the labels are %v", now.Labels)
	}
	other.gate.reopen()
	other.sees(t, now)
	row, sent = other.reconcile(t, otherRunner)
	wantRow(t, row, workflow.Failed, "NotOwned")
	wantSent(t, sent)
	if !strings.Contains(row.Message, "shop") {
		t.Errorf("the message %q doesn't name the owner", row.Message)
	}
}

// A restore gives an object back without owner references and managed fields, and its primary another UID.
func TestRestored(t *testing.T) { // R34 H2 F11
	for _, elsewhere := range []bool{false, true} {
		for name, change := range map[string]func(*corev1.ConfigMap){
			"": func(*corev1.ConfigMap) {},
			", with its owner": func(obj *corev1.ConfigMap) {
				obj.OwnerReferences = []metav1.OwnerReference{{
					APIVersion: primaryKind().GroupVersion().String(), Kind: "WebApp", Name: "shop", UID: "uid-old", Controller: new(true),
				}}
			},
		} {
			t.Run(map[bool]string{false: "in place", true: "into another namespace"}[elsewhere]+name, func(t *testing.T) {
				w, o := newWorld(t), &optional{settings: settings{data: map[string]string{"a": "1"}}}
				runner := w.runner(t, o.with(func(settingsNode) {}))
				w.reconcile(t, runner)
				backup := read[corev1.ConfigMap](t, w, "settings")
				if elsewhere {
					w = newWorld(t)
				} else {
					for _, obj := range []client.Object{backup, w.primary} {
						if err := w.others.Delete(t.Context(), obj); err != nil {
							t.Fatal(err)
						}
					}
					w.primary = w.newPrimary(t, "shop")
					w = w.restarted(t)
				}
				restored := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
					Name: backup.Name, Namespace: w.namespace, Labels: backup.Labels, Annotations: backup.Annotations,
				}, Data: backup.Data}
				change(restored)
				w.create(t, restored)
				runner = w.runner(t, o.with(func(settingsNode) {}))
				w.sees(t, restored)
				row, _ := w.reconcile(t, runner)
				wantRow(t, row, workflow.Ready, "")
				now := read[corev1.ConfigMap](t, w, "settings")
				if now.UID != restored.UID || now.Labels["espalier.dev/owner"] != string(w.primary.UID) || len(now.OwnerReferences) != 1 {
					t.Errorf("labels %v, owners %v", now.Labels, now.OwnerReferences)
				}
				w.sees(t, now)
				_, sent := w.reconcile(t, runner)
				wantSent(t, sent)
			})
		}
	}
}

// A node that has another name now keeps its object, and finds it to delete it.
func TestFormerNames(t *testing.T) { // R34 H8
	w, s := newWorld(t), &settings{data: map[string]string{"a": "1"}}
	w.reconcile(t, w.runner(t, func(b builder) {
		dependent.Typed(b, "config", func(run) (*corev1.ConfigMap, error) { return s.object(), nil })
	}))
	before := read[corev1.ConfigMap](t, w, "settings")
	o := &optional{settings: *s}
	renamed := func(n settingsNode) { n.FormerNames("config", "old") }

	next := w.restarted(t)
	o.unwanted = true
	unwanted := next.runner(t, o.with(renamed))
	plain := next.restarted(t)
	row, sent := plain.reconcile(t, plain.runner(t, o.with(func(settingsNode) {})))
	wantRow(t, row, workflow.Disabled, "NotWanted") // it isn't known that the node had another name
	wantSent(t, sent)
	o.unwanted = false
	row, sent = plain.reconcile(t, plain.runner(t, o.with(func(settingsNode) {})))
	wantRow(t, row, workflow.Failed, "ClaimedBy")
	wantSent(t, sent)
	row, sent = next.reconcile(t, unwanted)
	wantRow(t, row, workflow.Ready, "")
	wantSent(t, sent, "apply configmaps")
	now := read[corev1.ConfigMap](t, w, "settings")
	if now.UID != before.UID || now.Labels["espalier.dev/node"] != "node" {
		t.Errorf("the labels are %v", now.Labels)
	}
	next.sees(t, now)
	_, sent = next.reconcile(t, unwanted)
	wantSent(t, sent)
}

// What was written under a former name is deleted under the new one.
func TestFormerNameIsDeleted(t *testing.T) { // R34 R40
	w, o := newWorld(t), &optional{}
	w.reconcile(t, w.runner(t, func(b builder) {
		dependent.Typed(b, "config", func(run) (*corev1.ConfigMap, error) { return o.object(), nil })
	}))
	before := read[corev1.ConfigMap](t, w, "settings")
	o.unwanted = true
	next := w.restarted(t)
	row, sent := next.reconcile(t, next.runner(t, o.with(func(n settingsNode) { n.FormerNames("config") })))
	wantRow(t, row, workflow.Deleting, "Terminating")
	wantSent(t, sent, "delete configmaps")
	if !isGone(t, w, before) {
		t.Error("it is still there")
	}
}

// SPDX-License-Identifier: Apache-2.0

package dependent_test

import (
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/espalier-dev/espalier/dependent"
	v1 "github.com/espalier-dev/espalier/examples/webapp/api/v1"
	"github.com/espalier-dev/espalier/workflow"
)

func TestTracking(t *testing.T) { // R36 H11 I6 M1 X11
	tests := []struct {
		name      string
		ordered   bool
		reference bool
	}{
		{name: "left to the garbage collector", reference: true},
		{name: "deleted in order", ordered: true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w, s := newWorld(t), &settings{}
			w.reconcile(t, w.runner(t, s.declare, workflow.Options{OrderedDeletion: test.ordered}))
			live := read[corev1.ConfigMap](t, w, "settings")
			for label, want := range map[string]string{"workflow": "webapp", "node": "node", "owner": string(w.primary.UID)} {
				if got := live.Labels["espalier.dev/"+label]; got != want {
					t.Errorf("label %s is %q, want %q", label, got, want)
				}
			}
			if len(live.Labels) != 3 || len(live.Annotations) != 1 || live.Annotations["espalier.dev/primary"] != "shop" {
				t.Errorf("there is more than the tracking: labels %v, annotations %v", live.Labels, live.Annotations)
			}
			if got := metav1.IsControlledBy(live, w.primary); got != test.reference {
				t.Errorf("controlled by the primary: %t, want %t", got, test.reference)
			}
			if refs := live.OwnerReferences; test.reference && (len(refs) != 1 || !*refs[0].BlockOwnerDeletion || refs[0].Name != "shop") {
				t.Errorf("the owner references are %v", refs)
			}
			if len(live.ManagedFields) != 1 || live.ManagedFields[0].Manager != operator {
				t.Errorf("the field managers are %v", live.ManagedFields)
			}
		})
	}
}

// Cluster-scoped objects of a namespaced primary have no owner reference: the collector would delete them at random.
func TestNoReferenceAcrossScopes(t *testing.T) { // R36 I2
	w := newWorld(t)
	row, _ := w.reconcile(t, w.runner(t, func(b builder) {
		dependent.Typed(b, "node", func(run) (*rbacv1.ClusterRole, error) {
			return &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: w.namespace}}, nil
		})
	}))
	wantRow(t, row, workflow.Ready, "")
	role := read[rbacv1.ClusterRole](t, &world{others: w.others}, w.namespace)
	if len(role.OwnerReferences) > 0 || role.Labels["espalier.dev/owner"] != string(w.primary.UID) {
		t.Errorf("owner references %v, labels %v", role.OwnerReferences, role.Labels)
	}
}

// An object that isn't the node's is named and left alone, whether the cache shows it or not.
func TestSomebodyElses(t *testing.T) { // R34 R43 H10
	controller := func(name string) []metav1.OwnerReference {
		return []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: name, UID: "uid-1", Controller: new(true)}}
	}
	tests := []struct {
		name       string
		labels     map[string]string
		references []metav1.OwnerReference
		reason     string
		message    []string
	}{
		{name: "nobody's", reason: "NotOwned", message: []string{"exists already"}},
		{name: "a controller's", references: controller("boss"), reason: "NotOwned", message: []string{"ConfigMap", `"boss"`}},
		{
			name: "another primary's", labels: map[string]string{"owner": "uid-2", "workflow": "webapp", "node": "node"},
			reason: "NotOwned", message: []string{"another primary", "uid-2"},
		},
		{
			name: "another workflow's", labels: map[string]string{"owner": "own", "workflow": "other", "node": "node"},
			reason: "ClaimedBy", message: []string{`node "node"`, `workflow "other"`},
		},
		{
			name: "another node's", labels: map[string]string{"owner": "own", "workflow": "webapp", "node": "other"},
			reason: "ClaimedBy", message: []string{`node "other"`},
		},
		{
			name: "another node's, though the primary controls it", labels: map[string]string{"owner": "own", "workflow": "webapp", "node": "other"},
			references: controller("own"), reason: "ClaimedBy", message: []string{`node "other"`},
		},
	}
	for _, test := range tests {
		for _, seen := range []bool{true, false} {
			t.Run(test.name+map[bool]string{true: ", seen", false: ", unseen"}[seen], func(t *testing.T) {
				w, s := newWorld(t), &settings{data: map[string]string{"a": "1"}}
				runner := w.runner(t, s.declare)
				theirs := &corev1.ConfigMap{
					ObjectMeta: metav1.ObjectMeta{Name: "settings", Namespace: w.namespace, Labels: map[string]string{}, OwnerReferences: test.references},
				}
				for label, value := range test.labels {
					theirs.Labels["espalier.dev/"+label] = strings.ReplaceAll(value, "own", string(w.primary.UID))
				}
				if len(theirs.OwnerReferences) > 0 && theirs.OwnerReferences[0].Name == "own" {
					theirs.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(w.primary, primaryKind())}
				}
				want := []string{}
				if !seen {
					w.gate.shut()
					want = []string{"apply configmaps", "get configmaps"}
				}
				w.create(t, theirs)
				if seen {
					w.sees(t, theirs)
				}
				row, sent := w.reconcile(t, runner)
				wantRow(t, row, workflow.Failed, test.reason)
				wantSent(t, sent, want...)
				for _, text := range test.message {
					if !strings.Contains(row.Message, text) {
						t.Errorf("the message %q doesn't name %q", row.Message, text)
					}
				}
				if now := read[corev1.ConfigMap](t, w, "settings"); now.ResourceVersion != theirs.ResourceVersion {
					t.Errorf("it was written: %v", now)
				}
			})
		}
	}
}

// An object that the primary controls without tracking is of an operator before this one, and is taken over.
func TestMigration(t *testing.T) { // R34 H2
	w, s := newWorld(t), &settings{data: map[string]string{"a": "1"}}
	runner := w.runner(t, s.declare)
	old := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{
			Name: "settings", Namespace: w.namespace,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(w.primary, primaryKind())},
		},
		Data: map[string]string{"a": "0"},
	}
	w.create(t, old)
	w.sees(t, old)
	row, sent := w.reconcile(t, runner)
	wantRow(t, row, workflow.Ready, "")
	wantSent(t, sent, "apply configmaps")
	now := read[corev1.ConfigMap](t, w, "settings")
	if now.UID != old.UID || now.Data["a"] != "1" || now.Labels["espalier.dev/node"] != "node" {
		t.Errorf("there is %v, labels %v", now.Data, now.Labels)
	}
}

// Somebody takes our labels off: they come back with one write.
func TestTrackingIsRepaired(t *testing.T) { // R31 R36
	for _, ordered := range []bool{true, false} {
		for name, patch := range map[string]string{
			"all labels": `{"metadata":{"labels":null}}`, "the owner": `{"metadata":{"labels":{"espalier.dev/owner":null}}}`,
			"the node": `{"metadata":{"labels":{"espalier.dev/node":"other"}}}`,
		} {
			t.Run(name+map[bool]string{true: ", ordered", false: ", collected"}[ordered], func(t *testing.T) {
				w, s := newWorld(t), &settings{data: map[string]string{"a": "1"}}
				runner := w.runner(t, s.declare, workflow.Options{OrderedDeletion: ordered})
				w.reconcile(t, runner)
				before := read[corev1.ConfigMap](t, w, "settings")
				w.patch(t, read[corev1.ConfigMap](t, w, "settings"), patch)
				row, sent := w.reconcile(t, runner)
				wantRow(t, row, workflow.Ready, "")
				wantSent(t, sent, "apply configmaps")
				after := read[corev1.ConfigMap](t, w, "settings")
				if after.UID != before.UID || len(after.Labels) != 3 || after.Labels["espalier.dev/node"] != "node" {
					t.Errorf("the labels are %v", after.Labels)
				}
			})
		}
	}
}

// Two nodes that want one object: the first that gets it keeps it, in one run and in the next.
func TestTwoNodesOneName(t *testing.T) { // R43
	w := newWorld(t)
	declare := func(b builder) {
		for _, node := range []string{"node", "other"} {
			dependent.Typed(b, node, func(run) (*corev1.ConfigMap, error) {
				return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "settings"}, Data: map[string]string{"by": node}}, nil
			})
		}
	}
	runner := w.runner(t, declare)
	var version, holder string
	for i := range 3 {
		subject := of(w.primary)
		subject.Revision += int64(i) // what has failed is tried again
		result := runner.Reconcile(t.Context(), subject)
		live := read[corev1.ConfigMap](t, w, "settings")
		if i == 0 {
			version, holder = live.ResourceVersion, live.Data["by"]
		}
		if live.ResourceVersion != version || live.Data["by"] != holder {
			t.Errorf("run %d: the object was taken over by %q", i, live.Data["by"])
		}
		for _, node := range []string{"node", "other"} {
			if row := result.Node(node); node == holder {
				wantRow(t, row, workflow.Ready, "")
			} else if wantRow(t, row, workflow.Failed, "ClaimedBy"); !strings.Contains(row.Message, `node "`+holder+`"`) {
				t.Errorf("run %d: the message %q doesn't name the holder", i, row.Message)
			}
		}
	}
}

// Two primaries and two kinds of one workflow never meet.
func TestTwoPrimaries(t *testing.T) { // R36 X10 M1
	w := newWorld(t)
	other := w.newPrimary(t, "shop-b")
	runner := w.runner(t, func(b builder) {
		dependent.Typed(b, "a", func(r run) (*corev1.ConfigMap, error) {
			return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: dependent.Name(r.Primary(), "a")}}, nil
		})
		dependent.Typed(b, "b", func(r run) (*corev1.ConfigMap, error) {
			return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: dependent.Name(r.Primary(), "b")}}, nil
		})
	}, workflow.Options{OrderedDeletion: true})
	for _, primary := range []*v1.WebApp{w.primary, other} {
		if err := runner.Reconcile(t.Context(), of(primary)).Err(); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"shop-a", "shop-b", "shop-b-a", "shop-b-b"} {
		w.sees(t, read[corev1.ConfigMap](t, w, name))
	}
	result := runner.Cleanup(t.Context(), of(w.primary))
	if err := result.Err(); err != nil {
		t.Fatal(err)
	}
	list := &corev1.ConfigMapList{}
	if err := w.others.List(t.Context(), list); err != nil {
		t.Fatal(err)
	}
	left := 0
	for _, item := range list.Items {
		if item.Namespace == w.namespace && item.Labels["espalier.dev/owner"] != "" {
			left++
			if item.Labels["espalier.dev/owner"] != string(other.UID) {
				t.Errorf("%s is left over", item.Name)
			}
		}
	}
	if left != 2 {
		t.Errorf("%d objects are left, want those of the other primary, 2", left)
	}
}

// What was made for one primary is never found for another of the same name; but it is taken over where that wants it.
func TestSuccessorOfTheSameName(t *testing.T) { // R34 R36 R40
	w := newWorld(t)
	runner := w.runner(t, func(b builder) {
		dependent.Typed(b, "node", func(r run) (*appsv1.Deployment, error) { return deployment(r.Primary().Name), nil })
	}, workflow.Options{OrderedDeletion: true})
	w.reconcile(t, runner)
	live := read[appsv1.Deployment](t, w, "shop")
	w.sees(t, live)
	if err := w.others.Delete(t.Context(), w.primary); err != nil {
		t.Fatal(err)
	}
	w.primary = w.newPrimary(t, "shop")
	row, sent := w.cleanup(t, runner)
	wantRow(t, row, workflow.Deleted, "")
	wantSent(t, sent)
	row, sent = w.reconcile(t, runner)
	wantRow(t, row, workflow.NotReady, "Progressing")
	wantSent(t, sent, "apply deployments.apps")
	if now := read[appsv1.Deployment](t, w, "shop"); now.UID != live.UID {
		t.Error("it was made anew")
	}
}

// SPDX-License-Identifier: Apache-2.0

package dependent_test

import (
	"context"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/espalier-dev/espalier/dependent"
	"github.com/espalier-dev/espalier/workflow"
)

// Admission that changes what we own isn't fought: the server has been asked once, and after a restart once more.
func TestMutatingAdmission(t *testing.T) { // R31 E22
	w, s := newWorld(t), &settings{data: map[string]string{"a": "1", "b": "2"}}
	mutate(t, w, `[JSONPatch{op: "add", path: "/data/a", value: "mutated"}, JSONPatch{op: "remove", path: "/data/b"}]`)
	runner := w.runner(t, s.declare)
	rests := func(what string) {
		t.Helper()
		for range 2 {
			row, sent := w.reconcile(t, runner)
			wantRow(t, row, workflow.Ready, "")
			if len(sent) > 0 {
				t.Errorf("%s: sent %v", what, sent)
			}
		}
	}
	row, sent := w.reconcile(t, runner)
	wantRow(t, row, workflow.Ready, "")
	wantSent(t, sent, "apply configmaps")
	rests("created")
	live := read[corev1.ConfigMap](t, w, "settings")
	if live.Data["a"] != "mutated" || len(live.Data) != 1 {
		t.Fatalf("the policy doesn't work: %v", live.Data)
	}
	w.sees(t, live)
	rests("seen")
	w.patch(t, live, `{"metadata":{"annotations":{"example.com/theirs":""}}}`)
	rests("something that isn't owned")

	before := read[corev1.ConfigMap](t, w, "settings")
	w = w.restarted(t)
	runner = w.runner(t, s.declare)
	row, sent = w.reconcile(t, runner)
	wantRow(t, row, workflow.Ready, "")
	wantSent(t, sent, "apply configmaps")
	if after := read[corev1.ConfigMap](t, w, "settings"); after.ResourceVersion != before.ResourceVersion || row.Operation != workflow.None {
		t.Errorf("a restart has changed it, operation %q", row.Operation)
	}
	rests("a restart")

	s.data["c"] = "3"
	row, sent = w.reconcile(t, runner)
	wantSent(t, sent, "apply configmaps")
	if row.Operation != workflow.Update || read[corev1.ConfigMap](t, w, "settings").Data["c"] != "3" {
		t.Errorf("a change beside it isn't written, operation %q", row.Operation)
	}
	rests("changed")
}

// mutate lets admission change every ConfigMap of the world's namespace.
func mutate(t *testing.T, w *world, patch string) {
	t.Helper()
	everything := []admissionregistrationv1.NamedRuleWithOperations{{RuleWithOperations: admissionregistrationv1.RuleWithOperations{
		Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.OperationAll},
		Rule:       admissionregistrationv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"configmaps"}},
	}}}
	policy := &admissionregistrationv1.MutatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: w.namespace},
		Spec: admissionregistrationv1.MutatingAdmissionPolicySpec{
			MatchConstraints: &admissionregistrationv1.MatchResources{
				ResourceRules: everything,
				NamespaceSelector: &metav1.LabelSelector{
					MatchLabels: map[string]string{"kubernetes.io/metadata.name": w.namespace},
				},
			},
			Mutations: []admissionregistrationv1.Mutation{{
				PatchType: admissionregistrationv1.PatchTypeJSONPatch,
				JSONPatch: &admissionregistrationv1.JSONPatch{Expression: patch},
			}},
			FailurePolicy:      new(admissionregistrationv1.Ignore),
			ReinvocationPolicy: admissionregistrationv1.NeverReinvocationPolicy,
		},
	}
	binding := &admissionregistrationv1.MutatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: w.namespace},
		Spec:       admissionregistrationv1.MutatingAdmissionPolicyBindingSpec{PolicyName: w.namespace},
	}
	w.create(t, policy)
	w.create(t, binding)
	t.Cleanup(func() {
		for _, obj := range []client.Object{policy, binding} {
			if err := w.others.Delete(context.Background(), obj); err != nil {
				t.Error(err)
			}
		}
	})
	w.waits(t, func(ctx context.Context) bool {
		probe := configMap(w.namespace, "probe")
		probe.Data = map[string]string{"a": "", "b": ""}
		return w.others.Create(ctx, probe, client.DryRunAll) == nil && len(probe.Data) == 1
	}, "the policy isn't in force")
}

// The scale of a Deployment is a field of it like any other: ours if we set it, and else whoever's.
func TestScale(t *testing.T) { // R30 R31 E10
	for _, owned := range []bool{true, false} {
		t.Run(map[bool]string{true: "owned", false: "not owned"}[owned], func(t *testing.T) {
			w := newWorld(t)
			runner := w.runner(t, func(b builder) {
				dependent.Typed(b, "node", func(run) (*appsv1.Deployment, error) {
					d := deployment("web")
					if !owned {
						d.Spec.Replicas = nil
					}
					return d, nil
				})
			})
			w.reconcile(t, runner)
			live := read[appsv1.Deployment](t, w, "web")
			scale := &autoscalingv1.Scale{Spec: autoscalingv1.ScaleSpec{Replicas: 7}}
			if err := w.others.SubResource("scale").Update(t.Context(), live, client.WithSubResourceBody(scale)); err != nil {
				t.Fatal(err)
			}
			live = read[appsv1.Deployment](t, w, "web")
			w.sees(t, live)
			_, sent := w.reconcile(t, runner)
			want := int32(7)
			if owned {
				wantSent(t, sent, "apply deployments.apps")
				want = 2
			} else {
				wantSent(t, sent)
			}
			if got := *read[appsv1.Deployment](t, w, "web").Spec.Replicas; got != want {
				t.Errorf("there are %d replicas, want %d", got, want)
			}
			_, sent = w.reconcile(t, runner)
			wantSent(t, sent)
		})
	}
}

// SPDX-License-Identifier: Apache-2.0

package dependent_test

import (
	"maps"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/espalier-dev/espalier/dependent"
	v1 "github.com/espalier-dev/espalier/examples/webapp/api/v1"
	"github.com/espalier-dev/espalier/workflow"
)

// Drift that is corrected is named: fields and manager, never values.
func TestDriftIsCorrected(t *testing.T) { // R48 E27 E28
	tests := []struct{ name, patch, drift string }{
		{"changed", `{"data":{"a":"s3cr3t"}}`, `.data.a by "stranger"`},
		{"removed", `{"data":{"a":null}}`, `.data.a removed`},
		{"both", `{"data":{"a":null,"b":"x"}}`, `.data.a removed, .data.b by "stranger"`},
		{"our labels", `{"metadata":{"labels":{"espalier.dev/node":null}}}`, `.metadata.labels.espalier.dev/node removed`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w, o := newWorld(t), &optional{settings: settings{data: map[string]string{"a": "1", "b": "1"}}}
			runner := w.runner(t, o.with(func(settingsNode) {}))
			w.reconcile(t, runner)
			w.patch(t, read[corev1.ConfigMap](t, w, "settings"), test.patch)
			row, sent := w.reconcile(t, runner)
			wantRow(t, row, workflow.Ready, "")
			wantSent(t, sent, "apply configmaps")
			if row.Drift != test.drift || row.Operation != workflow.Update {
				t.Errorf("the drift is %q, want %q; the operation is %q", row.Drift, test.drift, row.Operation)
			}
			if row, _ = w.reconcile(t, runner); row.Drift != "" {
				t.Errorf("the drift is still %q", row.Drift)
			}
			o.data["a"] = "2"
			if row, _ = w.reconcile(t, runner); row.Drift != "" || row.Operation != workflow.Update {
				t.Errorf("a change of one's own is called drift: %q", row.Drift)
			}
		})
	}
}

// Drift that is only reported stays, in every run and after a restart; all else is kept as wanted.
func TestDriftIsReported(t *testing.T) { // R48
	w, o := newWorld(t), &optional{settings: settings{data: map[string]string{"a": "1", "b": "1"}}}
	policy := func(n settingsNode) { n.Drift(dependent.Report) }
	runner := w.runner(t, o.with(policy))
	row, _ := w.reconcile(t, runner)
	wantRow(t, row, workflow.Ready, "")
	w.patch(t, read[corev1.ConfigMap](t, w, "settings"), `{"data":{"a":"theirs"}}`)
	next := w.restarted(t)
	nextRunner := next.runner(t, o.with(policy))
	for range 2 {
		for _, reconcile := range []func() (workflow.NodeResult, map[string]int){
			func() (workflow.NodeResult, map[string]int) { return w.reconcile(t, runner) },
			func() (workflow.NodeResult, map[string]int) { return next.reconcile(t, nextRunner) },
		} {
			row, sent := reconcile()
			wantRow(t, row, workflow.Ready, "")
			wantSent(t, sent)
			if want := `.data.a by "stranger"`; row.Drift != want || row.Operation != workflow.None {
				t.Errorf("the drift is %q, want %q", row.Drift, want)
			}
		}
	}
	o.data = map[string]string{"a": "2", "c": "1"}
	row, sent := w.reconcile(t, runner)
	wantRow(t, row, workflow.Ready, "")
	wantSent(t, sent, "apply configmaps")
	live := read[corev1.ConfigMap](t, w, "settings")
	if want := map[string]string{"a": "theirs", "c": "1"}; !maps.Equal(live.Data, want) {
		t.Errorf("the data is %v, want %v", live.Data, want)
	}
	if row.Drift != `.data.a by "stranger"` {
		t.Errorf("the drift is %q", row.Drift)
	}
	w.patch(t, live, `{"data":{"a":null}}`) // given up, it is ours again
	row, sent = w.reconcile(t, runner)
	wantRow(t, row, workflow.Ready, "")
	wantSent(t, sent, "apply configmaps")
	if now := read[corev1.ConfigMap](t, w, "settings"); now.Data["a"] != "2" || row.Drift != "" {
		t.Errorf("the data is %v, the drift %q", now.Data, row.Drift)
	}
}

// Our tracking is never left to others.
func TestTrackingIsNoDrift(t *testing.T) { // R36 R48
	w, o := newWorld(t), &optional{settings: settings{data: map[string]string{"a": "1"}}}
	runner := w.runner(t, o.with(func(n settingsNode) { n.Drift(dependent.Report) }))
	w.reconcile(t, runner)
	w.patch(t, read[corev1.ConfigMap](t, w, "settings"), `{"metadata":{"labels":{"espalier.dev/node":"other"}}}`)
	_, sent := w.reconcile(t, runner)
	wantSent(t, sent, "apply configmaps")
	if now := read[corev1.ConfigMap](t, w, "settings"); now.Labels["espalier.dev/node"] != "node" {
		t.Errorf("the labels are %v", now.Labels)
	}
}

// An autoscaler takes over the replicas: they are given once, and never reset, whatever else changes.
func TestIgnoreFields(t *testing.T) { // R48 E10
	replicas, image := int32(3), "registry.example.com/web:1"
	declare := func(b builder) {
		dependent.Typed(b, "node", func(run) (*appsv1.Deployment, error) {
			d := deployment("web")
			d.Spec.Replicas, d.Spec.Template.Spec.Containers[0].Image = &replicas, image
			return d, nil
		}).IgnoreFields("spec.replicas", "metadata.annotations[example.com/color]")
	}
	w := newWorld(t)
	runner := w.runner(t, declare)
	w.reconcile(t, runner)
	wantReplicas := func(want int32, sent map[string]int, what ...string) {
		t.Helper()
		wantSent(t, sent, what...)
		live := read[appsv1.Deployment](t, w, "web")
		if *live.Spec.Replicas != want || live.Spec.Template.Spec.Containers[0].Image != image {
			t.Errorf("%d replicas of %s, want %d", *live.Spec.Replicas, live.Spec.Template.Spec.Containers[0].Image, want)
		}
		w.sees(t, live)
	}
	replicas = 4 // it is ignored from the beginning
	_, sent := w.reconcile(t, runner)
	wantReplicas(3, sent)
	image = "registry.example.com/web:2"
	_, sent = w.reconcile(t, runner)
	wantReplicas(3, sent, "apply deployments.apps")

	scale := &autoscalingv1.Scale{Spec: autoscalingv1.ScaleSpec{Replicas: 7}}
	live := read[appsv1.Deployment](t, w, "web")
	if err := w.others.SubResource("scale").Update(t.Context(), live, client.WithSubResourceBody(scale)); err != nil {
		t.Fatal(err)
	}
	w.sees(t, read[appsv1.Deployment](t, w, "web"))
	_, sent = w.reconcile(t, runner)
	wantReplicas(7, sent)
	image = "registry.example.com/web:3"
	_, sent = w.reconcile(t, runner)
	wantReplicas(7, sent, "apply deployments.apps")
	w = w.restarted(t)
	runner = w.runner(t, declare)
	_, sent = w.reconcile(t, runner)
	wantReplicas(7, sent)
	image = "registry.example.com/web:4"
	_, sent = w.reconcile(t, runner)
	wantReplicas(7, sent, "apply deployments.apps")
	live = read[appsv1.Deployment](t, w, "web")
	if err := w.others.Delete(t.Context(), live); err != nil {
		t.Fatal(err)
	}
	w.misses(t, live)
	_, sent = w.reconcile(t, runner)
	wantReplicas(4, sent, "apply deployments.apps")
}

// What is adopted keeps what is to be ignored, whether the cache shows it or not.
func TestIgnoreFieldsWhenAdopted(t *testing.T) { // R34 R48
	for _, seen := range []bool{true, false} {
		t.Run(map[bool]string{true: "seen", false: "unseen"}[seen], func(t *testing.T) {
			w, o := newWorld(t), &optional{settings: settings{data: map[string]string{"a": "1", "b": "1"}}}
			policy := func(n settingsNode) { n.Adopt(dependent.IfUnowned).IgnoreFields("data.a") }
			if seen {
				theirs(t, w, nil)
			}
			runner := w.runner(t, o.with(policy))
			if !seen {
				w.gate.shut()
				defer w.gate.reopen()
				theirs(t, w, nil)
			}
			row, _ := w.reconcile(t, runner)
			wantRow(t, row, workflow.Ready, "")
			live := read[corev1.ConfigMap](t, w, "settings")
			if want := map[string]string{"a": "theirs", "b": "1"}; !maps.Equal(live.Data, want) {
				t.Errorf("the data is %v, want %v", live.Data, want)
			}
			_, sent := w.reconcile(t, runner)
			wantSent(t, sent)
		})
	}
}

// Policies that can't be meant are refused, all at once.
func TestPoliciesAreChecked(t *testing.T) { // R60
	w := newWorld(t)
	b := workflow.NewBuilder[*v1.WebApp]("webapp")
	dependent.Typed(b, "node", func(run) (*corev1.ConfigMap, error) { return nil, nil }).
		TakeControl().IgnoreFields("a..b", "spec.x").FormerNames("").Adopt(9).Drift(9).WhenUnwanted(9)
	graph, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	_, err = workflow.NewRunner(graph, w.engine, workflow.Options{})
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{`the path "a..b"`, "TakeControl()", "FormerNames", "Adopt(9)", "Drift(9)", "Disposal 9"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error %q doesn't say %q", err, want)
		}
	}
}

// SPDX-License-Identifier: Apache-2.0

package dependent_test

import (
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/cli-utils/pkg/kstatus/status"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/yaml"

	"github.com/espalier-dev/espalier/dependent"
	"github.com/espalier-dev/espalier/workflow"
)

// judgement is one row: an object as a server shows it, and what is made of it.
type judgement struct{ name, object, want string }

// differences are where kstatus says something else, by row: what, and why we don't.
type differences map[string]string

// judge asks for the readiness of each row's object, with its Go type and without, and compares it with kstatus.
func judge[T any, PT dependent.ObjectOf[T]](t *testing.T, rows []judgement, but differences) {
	t.Helper()
	kind := kindOf(t, PT(new(T)))
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			obj := PT(new(T))
			if err := yaml.UnmarshalStrict([]byte(row.object), obj); err != nil {
				t.Fatal(err)
			}
			got := dependent.Readiness(kind.GroupKind(), obj)
			if got.String() != row.want {
				t.Errorf("got %s, want %s", got, row.want)
			}
			untyped := untype(t, kind, row.object)
			if again := dependent.Readiness(kind.GroupKind(), untyped); again.String() != row.want {
				t.Errorf("without its Go type: got %s, want %s", again, row.want)
			}
			but.agree(t, row.name, got, untyped)
		})
	}
	but.areRows(t, rows)
}

// judgeUntyped is judge for a kind of which we have no Go type.
func judgeUntyped(t *testing.T, kind schema.GroupVersionKind, rows []judgement, but differences) {
	t.Helper()
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			obj := untype(t, kind, row.object)
			got := dependent.Readiness(kind.GroupKind(), obj)
			if got.String() != row.want {
				t.Errorf("got %s, want %s", got, row.want)
			}
			but.agree(t, row.name, got, obj)
		})
	}
	but.areRows(t, rows)
}

func kindOf(t *testing.T, obj client.Object) schema.GroupVersionKind {
	t.Helper()
	kind, err := apiutil.GVKForObject(obj, newScheme(t))
	if err != nil {
		t.Fatal(err)
	}
	return kind
}

func untype(t *testing.T, kind schema.GroupVersionKind, object string) *unstructured.Unstructured {
	t.Helper()
	obj := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(object), &obj.Object); err != nil {
		t.Fatal(err)
	}
	obj.Object = integers(obj.Object).(map[string]any)
	obj.SetGroupVersionKind(kind)
	return obj
}

// agree compares what we say with kstatus.
func (d differences) agree(t *testing.T, row string, verdict workflow.Verdict, obj *unstructured.Unstructured) {
	t.Helper()
	answer, _, _ := strings.Cut(verdict.String(), ":")
	same := map[string]string{"met": "Current", "unmet": "InProgress", "broken": "Failed"}[answer]
	if obj.GetDeletionTimestamp() != nil && answer == "unmet" {
		same = "Terminating"
	}
	want, _, differs := strings.Cut(d[row], ":")
	if !differs {
		want = same
	} else if want == same {
		t.Errorf("%s is no difference", want)
	}
	theirs, err := status.Compute(obj)
	if err != nil {
		t.Fatal(err)
	}
	if string(theirs.Status) != want {
		t.Errorf("kstatus says %s (%s), want %s", theirs.Status, theirs.Message, want)
	}
}

// areRows makes sure that no difference outlives its row.
func (d differences) areRows(t *testing.T, rows []judgement) {
	t.Helper()
	names := map[string]bool{}
	for _, row := range rows {
		names[row.name] = true
	}
	for name := range d {
		if !names[name] {
			t.Errorf("no row is called %q", name)
		}
	}
}

func conditionRows() []judgement {
	return []judgement{
		{"says nothing", `{metadata: {generation: 1}, spec: {}}`, "met"},
		{"has only seen it", `{metadata: {generation: 2}, spec: {}, status: {observedGeneration: 2}}`, "met"},
		{
			"hasn't seen it", `{metadata: {generation: 2}, spec: {}, status: {observedGeneration: 1}}`,
			"unmet: Progressing: its controller hasn't seen generation 2 yet",
		},
		{"ready", `{metadata: {generation: 2}, spec: {}, status: {observedGeneration: 2, conditions: [
			{type: Other, status: "False", lastTransitionTime: null, reason: "", message: ""},
			{type: Ready, status: "True", observedGeneration: 2, lastTransitionTime: null, reason: Good, message: good}]}}`, "met"},
		{"ready, without generations", `{metadata: {generation: 2}, spec: {}, status: {conditions: [
			{type: Ready, status: "True", lastTransitionTime: null, reason: Good, message: good}]}}`, "met"},
		{"available", `{metadata: {generation: 2}, spec: {}, status: {conditions: [
			{type: Available, status: "True", lastTransitionTime: null, reason: Good, message: good}]}}`, "met"},
		{"available, but not ready", `{metadata: {generation: 2}, spec: {}, status: {conditions: [
			{type: Available, status: "True", lastTransitionTime: null, reason: Good, message: good},
			{type: Ready, status: "False", lastTransitionTime: null, reason: Bad, message: too bad}]}}`, "unmet: Bad: too bad"},
		{"unknown", `{metadata: {generation: 2}, spec: {}, status: {conditions: [
			{type: Ready, status: Unknown, lastTransitionTime: null, reason: Starting, message: "100% unknown"}]}}`, "unmet: Starting: 100% unknown"},
		{
			"was ready before the spec changed", `{metadata: {generation: 3}, spec: {}, status: {conditions: [
			{type: Ready, status: "True", observedGeneration: 2, lastTransitionTime: null, reason: Good, message: good}]}}`,
			"unmet: Progressing: its controller hasn't seen generation 3 yet",
		}, // D7
		{"being reconciled", `{metadata: {generation: 2}, spec: {}, status: {observedGeneration: 2, conditions: [
			{type: Reconciling, status: "True", lastTransitionTime: null, reason: Busy, message: busy},
			{type: Ready, status: "True", lastTransitionTime: null, reason: Good, message: good}]}}`, "unmet: Busy: busy"},
		{"stalled", `{metadata: {generation: 2}, spec: {}, status: {observedGeneration: 2, conditions: [
			{type: Ready, status: "False", lastTransitionTime: null, reason: Bad, message: bad},
			{type: Stalled, status: "True", lastTransitionTime: null, reason: Stuck, message: stuck}]}}`, "broken: Stuck: stuck"},
		{"only other conditions", `{metadata: {generation: 2}, spec: {}, status: {observedGeneration: 2, conditions: [
			{type: Reconciling, status: "False", lastTransitionTime: null, reason: "", message: ""},
			{type: Other, status: "True", lastTransitionTime: null, reason: "", message: ""}]}}`, "met"},
	}
}

func TestConditionReadiness(t *testing.T) { // R38 D7
	judge[Gadget](t, conditionRows(), differences{
		"was ready before the spec changed": "Current: it doesn't ask of which generation a condition speaks",
	})
}

// ownDeployment is a Go type that somebody has made for a kind of the platform.
type ownDeployment struct {
	appsv1.Deployment `json:",inline"`
}

// The rule is that of the kind, whatever the Go type.
func TestReadinessIsOfTheKind(t *testing.T) { // R38
	kind := kindOf(t, &appsv1.Deployment{}).GroupKind()
	obj := &ownDeployment{}
	obj.Generation = 1
	if got, want := dependent.Readiness(kind, obj).String(), "unmet: Progressing: not all replicas are up to date and ready: want 1"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	bad := untype(t, kind.WithVersion("v1"), `{spec: {replicas: many}}`)
	if got := dependent.Readiness(kind, bad); got.Err() == nil {
		t.Errorf("got %s, want an error", got)
	}
}

// What has nothing to become ready is ready once it is there, without a look at its fields.
func TestPassiveReadiness(t *testing.T) { // R38 D2
	for _, obj := range []client.Object{
		&corev1.ConfigMap{}, &corev1.Secret{}, &corev1.ServiceAccount{}, &rbacv1.Role{}, &rbacv1.ClusterRoleBinding{},
		&networkingv1.NetworkPolicy{}, &networkingv1.Ingress{}, &batchv1.CronJob{},
	} {
		obj.SetGeneration(3)
		kind := kindOf(t, obj)
		untyped := untype(t, kind, `{metadata: {generation: 3}, status: {observedGeneration: 1}}`)
		for _, obj := range []client.Object{obj, untyped} {
			if got := dependent.Readiness(kind.GroupKind(), obj).String(); got != "met" {
				t.Errorf("%s as %T: got %s, want met", kind.Kind, obj, got)
			}
			// One is the deletion timestamp, which an object without its Go type makes when it is asked.
			if got := testing.AllocsPerRun(10, func() { dependent.Readiness(kind.GroupKind(), obj) }); got > 1 {
				t.Errorf("%s as %T: got %v allocations, want one at most", kind.Kind, obj, got)
			}
		}
	}
}

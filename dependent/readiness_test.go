// SPDX-License-Identifier: Apache-2.0

package dependent_test

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/espalier-dev/espalier/dependent"
)

// judgement is one row: an object as a server shows it, and what is made of it.
type judgement struct{ name, object, want string }

func judge[T any, PT dependent.ObjectOf[T]](t *testing.T, rows []judgement) {
	t.Helper()
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			obj := PT(new(T))
			if err := yaml.UnmarshalStrict([]byte(row.object), obj); err != nil {
				t.Fatal(err)
			}
			got := dependent.Readiness(obj).String()
			if got != row.want {
				t.Errorf("got %s, want %s", got, row.want)
			}
			if again := dependent.Readiness(obj.DeepCopyObject().(client.Object)).String(); again != got {
				t.Errorf("got %s, then %s", got, again)
			}
		})
	}
}

const wanted3 = "unmet: Progressing: not all replicas are up to date and ready: want 3"

func TestDeploymentReadiness(t *testing.T) { // R38 D1 D4
	judge[appsv1.Deployment](t, []judgement{
		{"just made", `{metadata: {generation: 1}, spec: {replicas: 3}}`, wanted3},
		{"its controller is behind", `{metadata: {generation: 2}, spec: {replicas: 3},
			status: {observedGeneration: 1, replicas: 3, updatedReplicas: 3, readyReplicas: 3, availableReplicas: 3}}`, wanted3},
		{"rolling out", `{metadata: {generation: 2}, spec: {replicas: 3}, status: {observedGeneration: 2, replicas: 4,
			updatedReplicas: 2, readyReplicas: 3, availableReplicas: 3, unavailableReplicas: 1,
			conditions: [{type: Available, status: "True", reason: MinimumReplicasAvailable},
				{type: Progressing, status: "True", reason: ReplicaSetUpdated}]}}`, wanted3},
		{"old replicas remain", `{metadata: {generation: 2}, spec: {replicas: 3},
			status: {observedGeneration: 2, replicas: 4, updatedReplicas: 3, readyReplicas: 4, availableReplicas: 4}}`, wanted3},
		{"not all available", `{metadata: {generation: 2}, spec: {replicas: 3},
			status: {observedGeneration: 2, replicas: 3, updatedReplicas: 3, readyReplicas: 3, availableReplicas: 2}}`, wanted3},
		{"rolled out", `{metadata: {generation: 2}, spec: {replicas: 3}, status: {observedGeneration: 2, replicas: 3,
			updatedReplicas: 3, readyReplicas: 3, availableReplicas: 3,
			conditions: [{type: Available, status: "True"}, {type: Progressing, status: "True", reason: NewReplicaSetAvailable}]}}`, "met"},
		{"replicas aren't set", `{metadata: {generation: 1}, status: {observedGeneration: 1, replicas: 1, updatedReplicas: 1, availableReplicas: 1}}`, "met"},
		{"no replicas wanted", `{metadata: {generation: 1}, spec: {replicas: 0}, status: {observedGeneration: 1}}`, "met"},
		{
			"no replicas wanted, one remains", `{metadata: {generation: 1}, spec: {replicas: 0}, status: {observedGeneration: 1, replicas: 1}}`,
			"unmet: Progressing: not all replicas are up to date and ready: want 0",
		},
		{
			"its deadline has passed", `{metadata: {generation: 2}, spec: {replicas: 3}, status: {observedGeneration: 2, replicas: 4, updatedReplicas: 1,
			availableReplicas: 3, conditions: [{type: Progressing, status: "False", reason: ProgressDeadlineExceeded}]}}`,
			"broken: ProgressDeadlineExceeded: no progress within its deadline",
		},
		{"the deadline of an older spec has passed", `{metadata: {generation: 3}, spec: {replicas: 3}, status: {observedGeneration: 2,
			conditions: [{type: Progressing, status: "False", reason: ProgressDeadlineExceeded}]}}`, wanted3},
		{"pods can't be made", `{metadata: {generation: 1}, spec: {replicas: 3}, status: {observedGeneration: 1,
			conditions: [{type: ReplicaFailure, status: "True", reason: FailedCreate}]}}`, wanted3},
	})
}

func TestStatefulSetReadiness(t *testing.T) { // R38
	judge[appsv1.StatefulSet](t, []judgement{
		{"just made", `{metadata: {generation: 1}, spec: {replicas: 3}}`, wanted3},
		{"its controller is behind", `{metadata: {generation: 2}, spec: {replicas: 3},
			status: {observedGeneration: 1, replicas: 3, readyReplicas: 3, updatedReplicas: 3, currentRevision: a, updateRevision: a}}`, wanted3},
		{"starting one after the other", `{metadata: {generation: 1}, spec: {replicas: 3},
			status: {observedGeneration: 1, replicas: 2, readyReplicas: 1, updatedReplicas: 2, currentRevision: a, updateRevision: a}}`, wanted3},
		{"updating", `{metadata: {generation: 2}, spec: {replicas: 3, updateStrategy: {type: RollingUpdate}},
			status: {observedGeneration: 2, replicas: 3, readyReplicas: 3, updatedReplicas: 1, currentRevision: a, updateRevision: b}}`, wanted3},
		{"updated, not said to be so", `{metadata: {generation: 2}, spec: {replicas: 3, updateStrategy: {type: RollingUpdate, rollingUpdate: {partition: 0}}},
			status: {observedGeneration: 2, replicas: 3, readyReplicas: 3, updatedReplicas: 3, currentRevision: a, updateRevision: b}}`, wanted3},
		{"updated", `{metadata: {generation: 2}, spec: {replicas: 3, updateStrategy: {type: RollingUpdate, rollingUpdate: {partition: 0}}},
			status: {observedGeneration: 2, replicas: 3, readyReplicas: 3, updatedReplicas: 3, currentRevision: b, updateRevision: b}}`, "met"},
		{"updated up to its partition", `{metadata: {generation: 2}, spec: {replicas: 3, updateStrategy: {type: RollingUpdate, rollingUpdate: {partition: 2}}},
			status: {observedGeneration: 2, replicas: 3, readyReplicas: 3, updatedReplicas: 1, currentRevision: a, updateRevision: b}}`, "met"},
		{"not up to its partition", `{metadata: {generation: 2}, spec: {replicas: 3, updateStrategy: {type: RollingUpdate, rollingUpdate: {partition: 1}}},
			status: {observedGeneration: 2, replicas: 3, readyReplicas: 3, updatedReplicas: 1, currentRevision: a, updateRevision: b}}`, wanted3},
		{"a partition beyond its replicas", `{metadata: {generation: 2}, spec: {replicas: 3, updateStrategy: {type: RollingUpdate, rollingUpdate: {partition: 9}}},
			status: {observedGeneration: 2, replicas: 3, readyReplicas: 3, currentRevision: a, updateRevision: b}}`, "met"},
		{"updated by its user", `{metadata: {generation: 2}, spec: {replicas: 3, updateStrategy: {type: OnDelete}},
			status: {observedGeneration: 2, replicas: 3, readyReplicas: 3, updatedReplicas: 0, currentRevision: a, updateRevision: b}}`, "met"},
		{"scaling down", `{metadata: {generation: 2}, spec: {replicas: 3},
			status: {observedGeneration: 2, replicas: 5, readyReplicas: 5, updatedReplicas: 5, currentRevision: a, updateRevision: a}}`, wanted3},
		{"replicas aren't set", `{metadata: {generation: 1}, status: {observedGeneration: 1, replicas: 1, readyReplicas: 1, updatedReplicas: 1}}`, "met"},
		{"no replicas wanted", `{metadata: {generation: 1}, spec: {replicas: 0}, status: {observedGeneration: 1, currentRevision: a, updateRevision: a}}`, "met"},
	})
}

func TestJobReadiness(t *testing.T) { // R38 D4
	judge[batchv1.Job](t, []judgement{
		{"just made", `{spec: {}}`, "unmet: Running: the job hasn't completed yet"},
		{"running", `{status: {active: 1, ready: 1, startTime: "2026-01-01T00:00:00Z"}}`, "unmet: Running: the job hasn't completed yet"},
		{
			"suspended", `{spec: {suspend: true}, status: {conditions: [{type: Suspended, status: "True", reason: JobSuspended}]}}`,
			"unmet: Suspended: the job is suspended",
		},
		{
			"resumed", `{status: {active: 1, conditions: [{type: Suspended, status: "False", reason: JobResumed}]}}`,
			"unmet: Running: the job hasn't completed yet",
		},
		{"about to complete", `{status: {conditions: [{type: SuccessCriteriaMet, status: "True"}]}}`, "unmet: Running: the job hasn't completed yet"},
		{"complete", `{status: {succeeded: 1, conditions: [{type: SuccessCriteriaMet, status: "True"}, {type: Complete, status: "True"}]}}`, "met"},
		{
			"about to fail", `{status: {conditions: [{type: FailureTarget, status: "True", reason: BackoffLimitExceeded}]}}`,
			"unmet: Running: the job hasn't completed yet",
		},
		{
			"failed", `{status: {failed: 7, conditions: [{type: FailureTarget, status: "True", reason: BackoffLimitExceeded},
			{type: Failed, status: "True", reason: BackoffLimitExceeded, message: "Job has reached the specified backoff limit"}]}}`,
			"broken: JobFailed: the job failed: BackoffLimitExceeded",
		},
		{
			"its deadline has passed", `{status: {conditions: [{type: Failed, status: "True", reason: DeadlineExceeded}]}}`,
			"broken: JobFailed: the job failed: DeadlineExceeded",
		},
		{"not failed", `{status: {conditions: [{type: Failed, status: "False"}, {type: Complete, status: "True"}]}}`, "met"},
	})
}

func TestServiceReadiness(t *testing.T) { // R38
	judge[corev1.Service](t, []judgement{
		{"inside the cluster", `{spec: {type: ClusterIP, clusterIP: 10.0.0.1}}`, "met"},
		{"headless", `{spec: {clusterIP: None}}`, "met"},
		{"another's name", `{spec: {type: ExternalName, externalName: example.com}}`, "met"},
		{"a port on every node", `{spec: {type: NodePort}}`, "met"},
		{"a load balancer to come", `{spec: {type: LoadBalancer}}`, "unmet: Provisioning: no load balancer yet"},
		{"a load balancer", `{spec: {type: LoadBalancer}, status: {loadBalancer: {ingress: [{ip: 192.0.2.1}]}}}`, "met"},
		{"a load balancer by name", `{spec: {type: LoadBalancer}, status: {loadBalancer: {ingress: [{hostname: lb.example.com}]}}}`, "met"},
	})
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
		{"only other conditions", `{metadata: {generation: 2}, spec: {}, status: {observedGeneration: 2, conditions: [
			{type: Reconciling, status: "True", lastTransitionTime: null, reason: Busy, message: busy}]}}`, "met"},
	}
}

func TestConditionReadiness(t *testing.T) { // R38 D7
	t.Run("typed", func(t *testing.T) { judge[Gadget](t, conditionRows()) })
	t.Run("unstructured", func(t *testing.T) {
		for _, row := range conditionRows() {
			t.Run(row.name, func(t *testing.T) {
				obj := &unstructured.Unstructured{}
				if err := yaml.Unmarshal([]byte(`{apiVersion: example.com/v1, kind: Gadget, `+row.object[1:]), obj); err != nil {
					t.Fatal(err)
				}
				if got := dependent.Readiness(obj).String(); got != row.want {
					t.Errorf("got %s, want %s", got, row.want)
				}
			})
		}
	})
}

// What has nothing to become ready is ready once it is there.
func TestPassiveReadiness(t *testing.T) { // R38 D2
	for _, obj := range []client.Object{
		&corev1.ConfigMap{}, &corev1.Secret{}, &corev1.ServiceAccount{}, &rbacv1.Role{}, &rbacv1.ClusterRoleBinding{},
		&networkingv1.NetworkPolicy{}, &networkingv1.Ingress{},
	} {
		obj.SetGeneration(3)
		if got := dependent.Readiness(obj).String(); got != "met" {
			t.Errorf("%T: got %s, want met", obj, got)
		}
	}
}

// SPDX-License-Identifier: Apache-2.0

package dependent_test

import (
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
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

// agree compares what we say with kstatus.
func (d differences) agree(t *testing.T, row string, verdict workflow.Verdict, obj *unstructured.Unstructured) {
	t.Helper()
	theirs, err := status.Compute(obj)
	if err != nil {
		t.Fatal(err)
	}
	want, _, _ := strings.Cut(d[row], ":")
	if want == "" {
		prefix, _, _ := strings.Cut(verdict.String(), ":")
		want = map[string]string{"met": "Current", "unmet": "InProgress", "broken": "Failed"}[prefix]
	}
	if string(theirs.Status) != want {
		t.Errorf("kstatus says %s (%s), want %s", theirs.Status, theirs.Message, want)
	}
}

func judge[T any, PT dependent.ObjectOf[T]](t *testing.T, rows []judgement, but differences) {
	t.Helper()
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			obj := PT(new(T))
			if err := yaml.UnmarshalStrict([]byte(row.object), obj); err != nil {
				t.Fatal(err)
			}
			gvk, err := apiutil.GVKForObject(obj, newScheme(t))
			if err != nil {
				t.Fatal(err)
			}
			got := dependent.Readiness(gvk.GroupKind(), obj)
			if got.String() != row.want {
				t.Errorf("got %s, want %s", got, row.want)
			}
			untyped := &unstructured.Unstructured{}
			if err := yaml.Unmarshal([]byte(row.object), &untyped.Object); err != nil {
				t.Fatal(err)
			}
			untyped.Object = integers(untyped.Object).(map[string]any)
			untyped.SetGroupVersionKind(gvk)
			if again := dependent.Readiness(gvk.GroupKind(), untyped); again.String() != row.want {
				t.Errorf("without its Go type: got %s, want %s", again, row.want)
			}
			but.agree(t, row.name, got, untyped)
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
		{"replicas aren't set", `{metadata: {generation: 1}, status: {observedGeneration: 1, replicas: 1, updatedReplicas: 1, readyReplicas: 1,
			availableReplicas: 1, conditions: [{type: Available, status: "True"}]}}`, "met"},
		{"no replicas wanted", `{metadata: {generation: 1}, spec: {replicas: 0}, status: {observedGeneration: 1,
			conditions: [{type: Available, status: "True"}]}}`, "met"},
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
	}, nil)
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
		{"replicas aren't set", `{metadata: {generation: 1}, status: {observedGeneration: 1, replicas: 1, readyReplicas: 1, updatedReplicas: 1,
			currentReplicas: 1, currentRevision: a, updateRevision: a}}`, "met"},
		{"no replicas wanted", `{metadata: {generation: 1}, spec: {replicas: 0}, status: {observedGeneration: 1, currentRevision: a, updateRevision: a}}`, "met"},
	}, differences{"updated, not said to be so": "Current: but the set's controller hasn't said yet that the update has ended"})
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
	}, differences{"running": "Current: but who depends on a job needs what it does"})
}

func TestServiceReadiness(t *testing.T) { // R38
	judge[corev1.Service](t, []judgement{
		{"inside the cluster", `{spec: {type: ClusterIP, clusterIP: 10.0.0.1}}`, "met"},
		{"headless", `{spec: {clusterIP: None}}`, "met"},
		{"another's name", `{spec: {type: ExternalName, externalName: example.com}}`, "met"},
		{"a port on every node", `{spec: {type: NodePort}}`, "met"},
		{"a load balancer to come", `{spec: {type: LoadBalancer}}`, "unmet: Provisioning: no load balancer yet"},
		{"a load balancer", `{spec: {type: LoadBalancer, clusterIP: 10.0.0.1}, status: {loadBalancer: {ingress: [{ip: 192.0.2.1}]}}}`, "met"},
		{"a load balancer by name", `{spec: {type: LoadBalancer, clusterIP: 10.0.0.1}, status: {loadBalancer: {ingress: [{hostname: lb.example.com}]}}}`, "met"},
	}, nil)
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

func TestDaemonSetReadiness(t *testing.T) { // R38
	const waiting = "unmet: Progressing: not all pods are up to date and available"
	judge[appsv1.DaemonSet](t, []judgement{
		{"just made", `{metadata: {generation: 1}}`, waiting},
		{"its controller is behind", `{metadata: {generation: 2}, status: {observedGeneration: 1, desiredNumberScheduled: 2,
			currentNumberScheduled: 2, updatedNumberScheduled: 2, numberAvailable: 2, numberReady: 2}}`, waiting},
		{"rolling out", `{metadata: {generation: 2}, status: {observedGeneration: 2, desiredNumberScheduled: 2,
			currentNumberScheduled: 2, updatedNumberScheduled: 1, numberAvailable: 2, numberReady: 2}}`, waiting},
		{"not available", `{metadata: {generation: 2}, status: {observedGeneration: 2, desiredNumberScheduled: 2,
			currentNumberScheduled: 2, updatedNumberScheduled: 2, numberAvailable: 1, numberReady: 1}}`, waiting},
		{"rolled out", `{metadata: {generation: 2}, status: {observedGeneration: 2, desiredNumberScheduled: 2,
			currentNumberScheduled: 2, updatedNumberScheduled: 2, numberAvailable: 2, numberReady: 2}}`, "met"},
		{"no node for it", `{metadata: {generation: 1}, status: {observedGeneration: 1, desiredNumberScheduled: 0}}`, "met"},
		{"updated by its user", `{metadata: {generation: 2}, spec: {updateStrategy: {type: OnDelete}}, status: {observedGeneration: 2,
			desiredNumberScheduled: 2, currentNumberScheduled: 2, numberAvailable: 2, numberReady: 2}}`, "met"},
	}, differences{"updated by its user": "InProgress: it waits for pods that only a user deletes"})
}

func TestReplicaSetReadiness(t *testing.T) { // R38
	judge[appsv1.ReplicaSet](t, []judgement{
		{"just made", `{metadata: {generation: 1}, spec: {replicas: 3}}`, wanted3},
		{"starting", `{metadata: {generation: 1}, spec: {replicas: 3}, status: {observedGeneration: 1, replicas: 3,
			fullyLabeledReplicas: 3, readyReplicas: 1, availableReplicas: 1}}`, wanted3},
		{"pods can't be made", `{metadata: {generation: 1}, spec: {replicas: 3}, status: {observedGeneration: 1, replicas: 3,
			fullyLabeledReplicas: 3, readyReplicas: 3, availableReplicas: 3,
			conditions: [{type: ReplicaFailure, status: "True", reason: FailedCreate}]}}`, wanted3},
		{"all there", `{metadata: {generation: 1}, spec: {replicas: 3}, status: {observedGeneration: 1, replicas: 3,
			fullyLabeledReplicas: 3, readyReplicas: 3, availableReplicas: 3}}`, "met"},
		{"scaling down", `{metadata: {generation: 2}, spec: {replicas: 3}, status: {observedGeneration: 2, replicas: 5,
			fullyLabeledReplicas: 5, readyReplicas: 5, availableReplicas: 5}}`, wanted3},
	}, nil)
}

func TestPodReadiness(t *testing.T) { // R38
	const starting = "unmet: Starting: the pod isn't ready yet"
	judge[corev1.Pod](t, []judgement{
		{"just made", `{status: {phase: Pending}}`, starting},
		{"nobody has seen it", `{spec: {}}`, starting},
		{"running", `{status: {phase: Running, conditions: [{type: Ready, status: "False", reason: ContainersNotReady}]}}`, starting},
		{"ready", `{status: {phase: Running, conditions: [{type: Ready, status: "True"}]}}`, "met"},
		{"done", `{status: {phase: Succeeded, conditions: [{type: Ready, status: "False", reason: PodCompleted}]}}`, "met"},
		{"failed", `{status: {phase: Failed, reason: Evicted}}`, "broken: PodFailed: the pod failed: Evicted"},
	}, differences{"failed": "Current: but who depends on a pod needs it to serve, or to have succeeded"})
}

func TestClaimReadiness(t *testing.T) { // R38 D5
	const provisioning = "unmet: Provisioning: no volume is bound yet"
	judge[corev1.PersistentVolumeClaim](t, []judgement{
		{"for its first pod", `{spec: {storageClassName: lazy}, status: {phase: Pending}}`, "met"},
		{"being made", `{metadata: {annotations: {volume.kubernetes.io/storage-provisioner: example.com}}, spec: {storageClassName: eager},
			status: {phase: Pending}}`, provisioning},
		{"being bound", `{spec: {volumeName: a}, status: {phase: Pending}}`, provisioning},
		{"bound", `{spec: {volumeName: a}, status: {phase: Bound}}`, "met"},
		{"lost", `{spec: {volumeName: a}, status: {phase: Lost}}`, "broken: ClaimLost: the claim has lost its volume"},
	}, differences{"for its first pod": "InProgress: whoever waits for the claim before using it would wait for ever", "lost": "InProgress: but a lost volume doesn't come back"})
}

func TestNamespaceReadiness(t *testing.T) { // R38
	judge[corev1.Namespace](t, []judgement{
		{"active", `{status: {phase: Active}}`, "met"},
		{"being deleted", `{status: {phase: Terminating}}`, "unmet: Terminating: the namespace is being deleted"},
	}, differences{"being deleted": "Current: it goes by the deletion timestamp, which such an object has"})
}

func TestClusterReadiness(t *testing.T) { // R38
	judge[policyv1.PodDisruptionBudget](t, []judgement{
		{"just made", `{metadata: {generation: 1}}`, "unmet: Progressing: not enough healthy pods"},
		{"too few", `{metadata: {generation: 1}, status: {observedGeneration: 1, currentHealthy: 1, desiredHealthy: 2}}`, "unmet: Progressing: not enough healthy pods"},
		{"enough", `{metadata: {generation: 1}, status: {observedGeneration: 1, currentHealthy: 2, desiredHealthy: 2}}`, "met"},
	}, differences{"just made": "Current: whether there are pods isn't asked", "too few": "Current: whether there are pods isn't asked"})
	judge[autoscalingv2.HorizontalPodAutoscaler](t, []judgement{
		{"just made", `{spec: {}}`, "met"},
		{"without metrics", `{status: {conditions: [{type: AbleToScale, status: "True"}, {type: ScalingActive, status: "False"}]}}`, "met"},
		{"not able", `{status: {conditions: [{type: AbleToScale, status: "False", reason: FailedGetScale}]}}`, "unmet: FailedGetScale: it isn't able to scale"},
	}, differences{"not able": "Current: it knows no rule for the kind"})
	judge[batchv1.CronJob](t, []judgement{{"just made", `{spec: {}}`, "met"}}, nil)
	judge[networkingv1.Ingress](t, []judgement{{"just made", `{spec: {}}`, "met"}}, nil)
	judge[apiextensionsv1.CustomResourceDefinition](t, []judgement{
		{"just made", `{spec: {}}`, "unmet: Progressing: it isn't established yet"},
		{"names are taken", `{status: {conditions: [{type: NamesAccepted, status: "False", reason: Conflict, message: taken},
			{type: Established, status: "False"}]}}`, "unmet: Conflict: taken"},
		{"established", `{status: {conditions: [{type: NamesAccepted, status: "True"}, {type: Established, status: "True"}]}}`, "met"},
		{"being installed", `{status: {conditions: [{type: NamesAccepted, status: "True"}, {type: Established, status: "False",
			reason: Installing, message: wait}]}}`, "unmet: Installing: wait"},
	}, differences{"names are taken": "Failed: but names may be given back"})
}

// An APIService is judged without its Go type.
func TestAPIServiceReadiness(t *testing.T) { // R38
	kind := schema.GroupKind{Group: "apiregistration.k8s.io", Kind: "APIService"}
	for conditions, want := range map[string]string{
		`[]`:                                  "unmet: Progressing: it isn't available yet",
		`[{type: Available, status: "True"}]`: "met",
		`[{type: Available, status: "False", reason: MissingEndpoints, message: none}]`: "unmet: MissingEndpoints: none",
	} {
		obj := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(`{status: {conditions: `+conditions+`}}`), &obj.Object); err != nil {
			t.Fatal(err)
		}
		if got := dependent.Readiness(kind, obj).String(); got != want {
			t.Errorf("%s: got %s, want %s", conditions, got, want)
		}
	}
}

// What has nothing to become ready is ready once it is there.
func TestPassiveReadiness(t *testing.T) { // R38 D2
	for _, obj := range []client.Object{
		&corev1.ConfigMap{}, &corev1.Secret{}, &corev1.ServiceAccount{}, &rbacv1.Role{}, &rbacv1.ClusterRoleBinding{},
		&networkingv1.NetworkPolicy{}, &networkingv1.Ingress{},
	} {
		obj.SetGeneration(3)
		gvk, err := apiutil.GVKForObject(obj, newScheme(t))
		if err != nil {
			t.Fatal(err)
		}
		if got := dependent.Readiness(gvk.GroupKind(), obj).String(); got != "met" {
			t.Errorf("%T: got %s, want met", obj, got)
		}
	}
}

// SPDX-License-Identifier: Apache-2.0

package dependent

import (
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/espalier-dev/espalier/workflow"
)

// readiness is the rule of each kind. A status that is older than the spec says nothing. A message doesn't move while
// one waits: it says what is wanted, not how far it is, since each change of it would be a status write.
func readiness(obj client.Object) workflow.Verdict {
	switch obj := obj.(type) {
	case *appsv1.Deployment:
		return deploymentReady(obj)
	case *appsv1.StatefulSet:
		return statefulSetReady(obj)
	case *batchv1.Job:
		return jobReady(obj)
	case *corev1.Service:
		return serviceReady(obj)
	default:
		return conditionReady(obj)
	}
}

func deploymentReady(d *appsv1.Deployment) workflow.Verdict {
	want, s := count(d.Spec.Replicas), &d.Status
	current := s.ObservedGeneration >= d.Generation
	for _, c := range s.Conditions {
		if current && c.Type == appsv1.DeploymentProgressing && c.Reason == "ProgressDeadlineExceeded" {
			return workflow.Broken("ProgressDeadlineExceeded", "no progress within its deadline")
		}
	}
	updated := s.UpdatedReplicas >= want && s.Replicas <= s.UpdatedReplicas
	return progressing(current && updated && s.AvailableReplicas >= want, want)
}

func statefulSetReady(set *appsv1.StatefulSet) workflow.Verdict {
	want, s := count(set.Spec.Replicas), &set.Status
	current := s.ObservedGeneration >= set.Generation
	return progressing(current && s.ReadyReplicas >= want && s.Replicas <= want && statefulSetUpdated(set, want), want)
}

// statefulSetUpdated reports whether all pods that the set itself updates are up to date.
func statefulSetUpdated(set *appsv1.StatefulSet, want int32) bool {
	if set.Spec.UpdateStrategy.Type == appsv1.OnDeleteStatefulSetStrategyType {
		return true
	}
	kept := int32(0)
	if rolling := set.Spec.UpdateStrategy.RollingUpdate; rolling != nil && rolling.Partition != nil {
		kept = *rolling.Partition
	}
	s := &set.Status
	return s.UpdatedReplicas >= want-kept && (kept > 0 || s.CurrentRevision == s.UpdateRevision)
}

func progressing(ready bool, want int32) workflow.Verdict {
	return workflow.If(ready, "Progressing", "not all replicas are up to date and ready: want %d", want)
}

func jobReady(j *batchv1.Job) workflow.Verdict {
	for _, c := range j.Status.Conditions {
		if c.Status != corev1.ConditionTrue {
			continue
		}
		switch c.Type {
		case batchv1.JobComplete:
			return workflow.Met()
		case batchv1.JobFailed:
			return workflow.Broken("JobFailed", "the job failed: %s", c.Reason)
		case batchv1.JobSuspended:
			return workflow.Unmet("Suspended", "the job is suspended")
		default:
		}
	}
	return workflow.Unmet("Running", "the job hasn't completed yet")
}

func serviceReady(s *corev1.Service) workflow.Verdict {
	balanced := s.Spec.Type == corev1.ServiceTypeLoadBalancer
	return workflow.If(!balanced || len(s.Status.LoadBalancer.Ingress) > 0, "Provisioning", "no load balancer yet")
}

// conditionReady follows a Ready or Available condition; a kind that reports neither is ready once it exists.
func conditionReady(obj client.Object) workflow.Verdict {
	if passive(obj) {
		return workflow.Met()
	}
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	if err != nil {
		return workflow.Unknown(err)
	}
	observed, reports, _ := unstructured.NestedInt64(fields, "status", "observedGeneration")
	if reports && observed < obj.GetGeneration() {
		return stale(obj.GetGeneration())
	}
	conditions, _, _ := unstructured.NestedSlice(fields, "status", "conditions")
	for _, kind := range []string{"Ready", "Available"} {
		for _, c := range conditions {
			if c, ok := c.(map[string]any); ok && c["type"] == kind {
				return conditionVerdict(c, obj.GetGeneration())
			}
		}
	}
	return workflow.Met()
}

func conditionVerdict(c map[string]any, generation int64) workflow.Verdict {
	if observed, ok := c["observedGeneration"].(int64); ok && observed < generation {
		return stale(generation)
	}
	reason, _ := c["reason"].(string)
	message, _ := c["message"].(string)
	return workflow.If(c["status"] == string(metav1.ConditionTrue), reason, "%s", message)
}

// passive reports whether a built-in kind has nothing to become ready; it spares a conversion on every run.
func passive(obj client.Object) bool {
	switch obj.(type) {
	case *corev1.ConfigMap, *corev1.Secret, *corev1.ServiceAccount:
		return true
	}
	return false
}

func stale(generation int64) workflow.Verdict {
	return workflow.Unmet("Progressing", "its controller hasn't seen generation %d yet", generation)
}

// count is the number of replicas that a spec asks for: 1 if it leaves that to the server.
func count(replicas *int32) int32 {
	if replicas == nil {
		return 1
	}
	return *replicas
}

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

// readiness is the rule of each kind. A status that is older than the spec says nothing. Messages have no counts in
// them that move while one waits: each would be a status write.
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
	if d.Status.ObservedGeneration < d.Generation {
		return stale(d.Generation)
	}
	for _, c := range d.Status.Conditions {
		if c.Type == appsv1.DeploymentProgressing && c.Reason == "ProgressDeadlineExceeded" {
			return workflow.Broken("ProgressDeadlineExceeded", "no progress within its deadline")
		}
	}
	want, s := count(d.Spec.Replicas), &d.Status
	switch {
	case s.UpdatedReplicas < want:
		return workflow.Unmet("Progressing", "fewer than %d replicas are up to date", want)
	case s.Replicas > s.UpdatedReplicas:
		return workflow.Unmet("Progressing", "old replicas remain")
	case s.AvailableReplicas < want:
		return workflow.Unmet("Progressing", "fewer than %d replicas are available", want)
	}
	return workflow.Met()
}

func statefulSetReady(set *appsv1.StatefulSet) workflow.Verdict {
	if set.Status.ObservedGeneration < set.Generation {
		return stale(set.Generation)
	}
	want, s := count(set.Spec.Replicas), &set.Status
	if s.ReadyReplicas < want {
		return workflow.Unmet("Progressing", "fewer than %d replicas are ready", want)
	}
	if s.Replicas > want {
		return workflow.Unmet("Progressing", "more than %d replicas remain", want)
	}
	if set.Spec.UpdateStrategy.Type == appsv1.OnDeleteStatefulSetStrategyType {
		return workflow.Met() // its user updates the pods
	}
	kept := int32(0)
	if rolling := set.Spec.UpdateStrategy.RollingUpdate; rolling != nil && rolling.Partition != nil {
		kept = *rolling.Partition
	}
	if updated := max(want-kept, 0); s.UpdatedReplicas < updated {
		return workflow.Unmet("Progressing", "fewer than %d replicas are up to date", updated)
	}
	if kept == 0 && s.CurrentRevision != s.UpdateRevision {
		return workflow.Unmet("Progressing", "an older revision remains")
	}
	return workflow.Met()
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
	return workflow.Unmet("Progressing", "generation %d isn't observed yet", generation)
}

// count is the number of replicas that a spec asks for: 1 if it leaves that to the server.
func count(replicas *int32) int32 {
	if replicas == nil {
		return 1
	}
	return *replicas
}

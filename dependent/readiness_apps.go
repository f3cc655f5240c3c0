// SPDX-License-Identifier: Apache-2.0

package dependent

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/espalier-dev/espalier/workflow"
)

// appsReady is about what keeps pods running.
func appsReady(kind string, obj client.Object) workflow.Verdict {
	switch kind {
	case "Deployment":
		return judged(obj, deploymentReady)
	case "StatefulSet":
		return judged(obj, statefulSetReady)
	case "DaemonSet":
		return judged(obj, daemonSetReady)
	case "ReplicaSet":
		return judged(obj, replicaSetReady)
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

func daemonSetReady(d *appsv1.DaemonSet) workflow.Verdict {
	s := &d.Status
	want := s.DesiredNumberScheduled
	updated := s.UpdatedNumberScheduled >= want || d.Spec.UpdateStrategy.Type == appsv1.OnDeleteDaemonSetStrategyType
	// Until it has been observed it wants no pod yet. How many it wants depends on nodes, which come and go.
	isObserved := s.ObservedGeneration > 0 && s.ObservedGeneration >= d.Generation
	return workflow.If(isObserved && updated && s.NumberAvailable >= want, "Progressing",
		"not all pods are up to date and available")
}

func replicaSetReady(r *appsv1.ReplicaSet) workflow.Verdict {
	want, s := count(r.Spec.Replicas), &r.Status
	current := s.ObservedGeneration >= r.Generation
	for _, c := range s.Conditions {
		if c.Type == appsv1.ReplicaSetReplicaFailure && c.Status == corev1.ConditionTrue {
			current = false // it can't make its pods, for now
		}
	}
	return progressing(current && s.AvailableReplicas >= want && s.Replicas <= want, want)
}

// count is the number of replicas that a spec asks for: 1 if it leaves that to the server.
func count(replicas *int32) int32 {
	if replicas == nil {
		return 1
	}
	return *replicas
}

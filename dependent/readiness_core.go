// SPDX-License-Identifier: Apache-2.0

package dependent

import (
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/espalier-dev/espalier/workflow"
)

// coreReady is about the kinds of the core group. Those that report nothing are ready once they exist, without a look
// at their fields.
func coreReady(kind string, obj client.Object) workflow.Verdict {
	switch kind {
	case "ConfigMap", "Secret", "ServiceAccount":
		return workflow.Met()
	case "Service":
		return judged(obj, serviceReady)
	case "Pod":
		return judged(obj, podReady)
	case "PersistentVolumeClaim":
		return judged(obj, claimReady)
	case "Namespace":
		return judged(obj, namespaceReady)
	default:
		return conditionReady(obj)
	}
}

func serviceReady(s *corev1.Service) workflow.Verdict {
	balanced := s.Spec.Type == corev1.ServiceTypeLoadBalancer
	return workflow.If(!balanced || len(s.Status.LoadBalancer.Ingress) > 0, "Provisioning", "no load balancer yet")
}

func podReady(p *corev1.Pod) workflow.Verdict {
	switch p.Status.Phase {
	case corev1.PodSucceeded:
		return workflow.Met()
	case corev1.PodFailed:
		return workflow.Broken("PodFailed", "the pod failed: %s", p.Status.Reason)
	default:
	}
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue {
			return workflow.Met()
		}
	}
	return workflow.Unmet("Starting", "the pod isn't ready yet")
}

// provisionerAnnotation is set on a claim as soon as a volume is being made for it.
const provisionerAnnotation = "volume.kubernetes.io/storage-provisioner"

// claimReady doesn't wait for a volume that nobody has begun to make: that of a lazily binding class is made for the
// first pod that uses the claim, and whoever waited for it before would wait for ever.
func claimReady(c *corev1.PersistentVolumeClaim) workflow.Verdict {
	switch c.Status.Phase {
	case corev1.ClaimLost:
		return workflow.Broken("ClaimLost", "the claim has lost its volume")
	case corev1.ClaimBound:
		return workflow.Met()
	default:
		_, begun := c.Annotations[provisionerAnnotation]
		return workflow.If(!begun && c.Spec.VolumeName == "", "Provisioning", "no volume is bound yet")
	}
}

func namespaceReady(n *corev1.Namespace) workflow.Verdict {
	return workflow.If(n.Status.Phase != corev1.NamespaceTerminating, "Terminating", "the namespace is being deleted")
}

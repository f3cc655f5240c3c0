// SPDX-License-Identifier: Apache-2.0

package dependent

import (
	"cmp"

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

// podReady gives a pod up that has ended badly, not one that can't be scheduled or whose container crashes again and
// again: a node may come, and what it crashes for may.
func podReady(p *corev1.Pod) workflow.Verdict {
	switch p.Status.Phase {
	case corev1.PodSucceeded:
		return workflow.Met()
	case corev1.PodFailed:
		return workflow.Broken("PodFailed", "the pod failed: %s", cmp.Or(p.Status.Reason, "its containers did"))
	default:
	}
	if observed := p.Status.ObservedGeneration; observed > 0 && observed < p.Generation {
		return stale(p.Generation) // older servers and kubelets don't report it
	}
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue {
			return workflow.Met()
		}
	}
	return workflow.Unmet("Starting", "the pod isn't ready yet")
}

// What a claim says of its volume: that one is being made, and for which node. The second stands only on claims that
// bind lazily, from when a pod uses them.
const (
	provisionerAnnotation  = "volume.kubernetes.io/storage-provisioner"
	selectedNodeAnnotation = "volume.kubernetes.io/selected-node"
)

// claimReady doesn't wait for a volume that is made for the first pod: whoever waits for the claim before he uses it
// would wait for ever. Nor does it wait once such a pod is there, since the pod may ask for what can't be had, and the
// node that makes it must be able to mend that. When a class binds isn't said in a claim: what it says is that its
// volume is being made, which one it is, or that it has no class, and none of these needs a pod.
func claimReady(c *corev1.PersistentVolumeClaim) workflow.Verdict {
	switch c.Status.Phase {
	case corev1.ClaimLost:
		return workflow.Broken("ClaimLost", "the claim has lost its volume")
	case corev1.ClaimBound:
		return workflow.Met()
	default:
	}
	_, begun := c.Annotations[provisionerAnnotation]
	_, lazy := c.Annotations[selectedNodeAnnotation]
	needsNoPod := begun || c.Spec.VolumeName != "" || hasNoClass(c)
	return workflow.If(lazy || !needsNoPod, "Provisioning", "no volume is bound yet")
}

// hasNoClass reports whether a claim wants none. One that doesn't say may be given the default one, later too.
func hasNoClass(c *corev1.PersistentVolumeClaim) bool {
	if class, ok := c.Annotations[corev1.BetaStorageClassAnnotation]; ok {
		return class == ""
	}
	return c.Spec.StorageClassName != nil && *c.Spec.StorageClassName == ""
}

func namespaceReady(n *corev1.Namespace) workflow.Verdict {
	return workflow.If(n.Status.Phase != corev1.NamespaceTerminating, "Terminating", "the namespace is being deleted")
}

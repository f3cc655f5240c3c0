// SPDX-License-Identifier: Apache-2.0

package envtest_test

import (
	"testing"

	. "github.com/onsi/gomega"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func TestNodesAreReadyWhenStartReturns(t *testing.T) {
	c := newClient(t, shared.controllers.get(t).Config())
	g := NewWithT(t)
	var nodes corev1.NodeList
	g.Expect(c.List(t.Context(), &nodes)).To(Succeed())
	g.Expect(nodes.Items).To(HaveLen(2))
	for i, name := range []string{"node-0", "node-1"} {
		node := nodes.Items[i]
		g.Expect(node.Name).To(Equal(name))
		g.Expect(node.Spec.Taints).To(BeEmpty())
		g.Expect(node.Labels).To(HaveKeyWithValue(corev1.LabelHostname, name))
		g.Expect(node.Status.Conditions).To(ContainElement(And(
			HaveField("Type", corev1.NodeReady), HaveField("Status", corev1.ConditionTrue),
		)))
		// Without its lease the node would be taken for dead after a while.
		var lease coordinationv1.Lease
		key := client.ObjectKey{Namespace: corev1.NamespaceNodeLease, Name: name}
		g.Expect(c.Get(t.Context(), key, &lease)).To(Succeed())
	}
}

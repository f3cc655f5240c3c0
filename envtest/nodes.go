// SPDX-License-Identifier: Apache-2.0

package envtest

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// KWOK simulates the nodes that carry this annotation, and leaves others alone.
const (
	simulatedKey   = "kwok.x-k8s.io/node"
	simulatedValue = "fake"
)

// nodeName names the simulated nodes, from 0.
func nodeName(i int) string { return fmt.Sprintf("node-%d", i) }

// createNodes registers nodes as kubelets would. KWOK fills in the rest.
func createNodes(ctx context.Context, c client.Client, n int) error {
	for i := range n {
		name := nodeName(i)
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{
			Name:        name,
			Annotations: map[string]string{simulatedKey: simulatedValue},
			Labels: map[string]string{
				corev1.LabelHostname:   name,
				corev1.LabelOSStable:   "linux",
				corev1.LabelArchStable: "amd64",
			},
		}}
		if err := c.Create(ctx, node); err != nil {
			return fmt.Errorf("creating simulated node %q: %w", name, err)
		}
	}
	return nil
}

// awaitNodes waits until pods can be scheduled on the nodes.
func awaitNodes(ctx context.Context, c client.Client, n int) error {
	for i := range n {
		err := await(ctx, "the simulated nodes to be ready", func(ctx context.Context) error {
			var node corev1.Node
			if err := c.Get(ctx, client.ObjectKey{Name: nodeName(i)}, &node); err != nil {
				return err
			}
			return schedulable(&node)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// schedulable says why no pod would be scheduled on a node.
func schedulable(node *corev1.Node) error {
	if len(node.Spec.Taints) > 0 {
		return fmt.Errorf("node %q has taint %s", node.Name, node.Spec.Taints[0].Key)
	}
	for _, condition := range node.Status.Conditions {
		if condition.Type == corev1.NodeReady && condition.Status == corev1.ConditionTrue {
			return nil
		}
	}
	return fmt.Errorf("node %q isn't ready", node.Name)
}

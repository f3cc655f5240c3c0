// SPDX-License-Identifier: Apache-2.0

package dependent

import (
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/espalier-dev/espalier/workflow"
)

// clusterReady is about what brings kinds, and about what acts on others' pods.
func clusterReady(kind string, obj client.Object) workflow.Verdict {
	switch kind {
	case "PodDisruptionBudget":
		return judged(obj, budgetReady)
	case "HorizontalPodAutoscaler":
		return autoscalerReady(obj)
	case "CustomResourceDefinition":
		return definitionReady(obj)
	case "APIService":
		return firstCondition(obj, workflow.Unmet("Progressing", "it isn't available yet"), "Available")
	default:
		return conditionReady(obj)
	}
}

func budgetReady(b *policyv1.PodDisruptionBudget) workflow.Verdict {
	current := b.Status.ObservedGeneration >= b.Generation
	return workflow.If(current && b.Status.CurrentHealthy >= b.Status.DesiredHealthy, "Progressing",
		"not enough healthy pods")
}

// autoscalerReady says no only if the autoscaler can't act at all: what it scales has a readiness of its own.
func autoscalerReady(obj client.Object) workflow.Verdict {
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	if err != nil {
		return workflow.Unknown(err)
	}
	conditions, _, _ := unstructured.NestedSlice(fields, "status", "conditions")
	for _, c := range conditions {
		if c, ok := c.(map[string]any); ok && c["type"] == "AbleToScale" && c["status"] == "False" {
			reason, _ := c["reason"].(string)
			return workflow.Unmet(reason, "it isn't able to scale")
		}
	}
	return workflow.Met()
}

// definitionReady waits until the names are accepted and the kind is established: from then on it is served, or will
// be in a moment, which the nodes of that kind find out for themselves.
func definitionReady(obj client.Object) workflow.Verdict {
	if names := firstCondition(obj, workflow.Met(), "NamesAccepted"); !names.Holds() && names.Err() == nil {
		return names
	}
	return firstCondition(obj, workflow.Unmet("Progressing", "it isn't established yet"), "Established")
}

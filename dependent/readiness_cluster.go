// SPDX-License-Identifier: Apache-2.0

package dependent

import (
	"cmp"

	policyv1 "k8s.io/api/policy/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/espalier-dev/espalier/workflow"
)

// clusterReady is about what brings kinds, and about what acts on others' pods.
func clusterReady(kind string, obj client.Object) workflow.Verdict {
	switch kind {
	case "Ingress", "IngressClass", "NetworkPolicy":
		return workflow.Met()
	case "PodDisruptionBudget":
		return judged(obj, budgetReady)
	case "HorizontalPodAutoscaler":
		return autoscalerReady(obj)
	case "CustomResourceDefinition":
		return judged(withoutSchemas(obj), definitionReady)
	case "APIService":
		return apiServiceReady(obj)
	default:
		return conditionReady(obj)
	}
}

// budgetReady waits until the pods have been counted, not until there are enough of them: they may be made after the
// budget, and to have too few for a while is what it is for.
func budgetReady(b *policyv1.PodDisruptionBudget) workflow.Verdict {
	for _, c := range b.Status.Conditions {
		if c.Type == policyv1.DisruptionAllowedCondition && c.Reason == policyv1.SyncFailedReason {
			return workflow.Unmet(c.Reason, "its pods can't be counted: no eviction is allowed")
		}
	}
	if b.Status.ObservedGeneration < b.Generation {
		return stale(b.Generation)
	}
	return workflow.Met()
}

// autoscalerReady says no only if the autoscaler can't act at all: what it scales has a readiness of its own.
func autoscalerReady(obj client.Object) workflow.Verdict {
	able, reason, err := reported(obj, "AbleToScale")
	if err != nil {
		return workflow.Unknown(err)
	}
	return workflow.If(able != metav1.ConditionFalse, reason, "it isn't able to scale")
}

// apiServiceReady needs no Go type, which would be a dependency for one condition. The message isn't passed on: it
// holds the address that was tried last.
func apiServiceReady(obj client.Object) workflow.Verdict {
	available, reason, err := reported(obj, "Available")
	if err != nil {
		return workflow.Unknown(err)
	}
	return workflow.If(available == metav1.ConditionTrue, cmp.Or(reason, "Progressing"), "its server isn't available")
}

// reported is what one condition says, nothing if the object doesn't report it or hasn't been seen since it changed.
func reported(obj client.Object, kind string) (status metav1.ConditionStatus, reason string, err error) {
	conditions, current, err := conditionsOf(obj)
	if err != nil || !current {
		return "", "", err
	}
	for _, c := range conditions {
		if c, ok := c.(map[string]any); ok && c["type"] == kind {
			text, _ := c["status"].(string)
			reason, _ = c["reason"].(string)
			return metav1.ConditionStatus(text), reason, nil
		}
	}
	return "", "", nil
}

// definitionReady waits until the kind is established under the names that the spec has now: from then on it is
// served, or will be in a moment, which the nodes of that kind find out for themselves. Names that another definition
// has may be given back.
//
// Names are compared, since the conditions may be of an older spec: the server doesn't say of which, and looks at names
// only while they differ.
func definitionReady(d *apiextensionsv1.CustomResourceDefinition) workflow.Verdict {
	if observed := d.Status.ObservedGeneration; observed > 0 && observed < d.Generation {
		return stale(d.Generation)
	}
	accepted := equality.Semantic.DeepEqual(d.Spec.Names, d.Status.AcceptedNames)
	established := false
	for _, c := range d.Status.Conditions {
		switch {
		case c.Type == apiextensionsv1.NamesAccepted && c.Status == apiextensionsv1.ConditionFalse && !accepted:
			return workflow.Unmet(c.Reason, "its names aren't accepted: %s", c.Message)
		case c.Type == apiextensionsv1.Established:
			established = c.Status == apiextensionsv1.ConditionTrue
		}
	}
	return workflow.If(accepted && established, "Progressing", "its kind isn't established yet")
}

// withoutSchemas leaves out of a definition without its Go type what readiness doesn't ask: to convert its schemas
// takes milliseconds, in every run.
func withoutSchemas(obj client.Object) client.Object {
	u, ok := obj.(*unstructured.Unstructured)
	if !ok {
		return obj
	}
	names, _, _ := unstructured.NestedFieldNoCopy(u.Object, "spec", "names")
	return &unstructured.Unstructured{Object: map[string]any{
		"metadata": map[string]any{"generation": u.GetGeneration()},
		"spec":     map[string]any{"names": names},
		"status":   u.Object["status"],
	}}
}

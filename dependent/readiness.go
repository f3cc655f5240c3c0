// SPDX-License-Identifier: Apache-2.0

package dependent

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/espalier-dev/espalier/workflow"
)

// readiness is the rule of each kind, whatever the Go type of the object. A status that is older than the spec says
// nothing. A message doesn't move while one waits: it says what is wanted, not how far it is, since each change of it
// would be a status write.
//
// Where kstatus (sigs.k8s.io/cli-utils) says something else it is for a reason that stands in the tests.
func readiness(kind schema.GroupKind, obj client.Object) workflow.Verdict {
	switch kind.Group {
	case "":
		return coreReady(kind.Kind, obj)
	case "apps":
		return appsReady(kind.Kind, obj)
	case "batch":
		return batchReady(kind.Kind, obj)
	case "rbac.authorization.k8s.io", "networking.k8s.io":
		return workflow.Met()
	case "policy", "autoscaling", "apiextensions.k8s.io", "apiregistration.k8s.io":
		return clusterReady(kind.Kind, obj)
	default:
		return conditionReady(obj)
	}
}

// judged applies the rule of a Go type, also to what was read without it.
func judged[T any, PT ObjectOf[T]](obj client.Object, rule func(PT) workflow.Verdict) workflow.Verdict {
	switch obj := obj.(type) {
	case PT:
		return rule(obj)
	case *unstructured.Unstructured:
		typed := PT(new(T))
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(obj.Object, typed); err != nil {
			return workflow.Unknown(err)
		}
		return rule(typed)
	default:
		return conditionReady(obj)
	}
}

// conditionReady follows a Ready or Available condition, unless Stalled or Reconciling is True; a kind that reports
// neither is ready once it exists.
func conditionReady(obj client.Object) workflow.Verdict {
	return firstCondition(obj, workflow.Met(), "Stalled", "Reconciling", "Ready", "Available")
}

// firstCondition follows the first of some conditions that the object reports; otherwise it is none.
func firstCondition(obj client.Object, none workflow.Verdict, types ...string) workflow.Verdict {
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	if err != nil {
		return workflow.Unknown(err)
	}
	observed, reports, _ := unstructured.NestedInt64(fields, "status", "observedGeneration")
	if reports && observed < obj.GetGeneration() {
		return stale(obj.GetGeneration())
	}
	conditions, _, _ := unstructured.NestedSlice(fields, "status", "conditions")
	for _, kind := range types {
		for _, c := range conditions {
			if c, ok := c.(map[string]any); ok && c["type"] == kind && !isUneventful(c) {
				return conditionVerdict(c, obj.GetGeneration())
			}
		}
	}
	return none
}

func conditionVerdict(c map[string]any, generation int64) workflow.Verdict {
	if observed, ok := c["observedGeneration"].(int64); ok && observed < generation {
		return stale(generation)
	}
	reason, _ := c["reason"].(string)
	message, _ := c["message"].(string)
	switch c["type"] {
	case "Stalled":
		return workflow.Broken(reason, "%s", message)
	case "Reconciling":
		return workflow.Unmet(reason, "%s", message)
	}
	return workflow.If(c["status"] == string(metav1.ConditionTrue), reason, "%s", message)
}

// isUneventful reports whether a condition says that nothing is the matter: one of those that are True in trouble.
func isUneventful(c map[string]any) bool {
	return (c["type"] == "Stalled" || c["type"] == "Reconciling") && c["status"] != string(metav1.ConditionTrue)
}

func stale(generation int64) workflow.Verdict {
	return workflow.Unmet("Progressing", "its controller hasn't seen generation %d yet", generation)
}

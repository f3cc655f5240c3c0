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
// It agrees with kstatus (sigs.k8s.io/cli-utils), but for differences that stand with their reasons in the tests and in
// docs/design/0003-objects.md.
func readiness(kind schema.GroupKind, obj client.Object) workflow.Verdict {
	if obj.GetDeletionTimestamp() != nil {
		return workflow.Unmet("Terminating", "it is being deleted")
	}
	switch kind.Group {
	case "":
		return coreReady(kind.Kind, obj)
	case "apps":
		return appsReady(kind.Kind, obj)
	case "batch":
		return batchReady(kind.Kind, obj)
	case "rbac.authorization.k8s.io":
		return workflow.Met()
	case "policy", "autoscaling", "networking.k8s.io", "apiextensions.k8s.io", "apiregistration.k8s.io":
		return clusterReady(kind.Kind, obj)
	default:
		return conditionReady(obj)
	}
}

// judged applies the rule of a Go type, also to what was read into another one.
func judged[T any, PT ObjectOf[T]](obj client.Object, rule func(PT) workflow.Verdict) workflow.Verdict {
	if typed, ok := obj.(PT); ok {
		return rule(typed)
	}
	typed := PT(new(T))
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	if err == nil {
		err = runtime.DefaultUnstructuredConverter.FromUnstructured(fields, typed)
	}
	if err != nil {
		return workflow.Unknown(err)
	}
	return rule(typed)
}

// conditionReady follows a Ready or Available condition, unless Stalled or Reconciling is True; a kind that reports
// neither is ready once it exists.
func conditionReady(obj client.Object) workflow.Verdict {
	conditions, current, err := conditionsOf(obj)
	switch {
	case err != nil:
		return workflow.Unknown(err)
	case !current:
		return stale(obj.GetGeneration())
	}
	for _, kind := range []string{"Stalled", "Reconciling", "Ready", "Available"} {
		for _, c := range conditions {
			if c, ok := c.(map[string]any); ok && c["type"] == kind && !isUneventful(c) {
				return conditionVerdict(c, obj.GetGeneration())
			}
		}
	}
	return workflow.Met()
}

// conditionsOf is what an object of any Go type reports, and whether its controller has seen the spec as it is.
func conditionsOf(obj client.Object) (conditions []any, current bool, err error) {
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	if err != nil {
		return nil, false, err
	}
	observed, reports, _ := unstructured.NestedInt64(fields, "status", "observedGeneration")
	conditions, _, _ = unstructured.NestedSlice(fields, "status", "conditions")
	return conditions, !reports || observed >= obj.GetGeneration(), nil
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

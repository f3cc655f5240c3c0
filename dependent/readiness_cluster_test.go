// SPDX-License-Identifier: Apache-2.0

package dependent_test

import (
	"context"
	"strings"
	"testing"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/espalier-dev/espalier/dependent"
)

func TestBudgetReadiness(t *testing.T) { // R38
	const unseen = "unmet: Progressing: its controller hasn't seen generation 2 yet"
	const uncounted = "unmet: SyncFailed: its pods can't be counted: no eviction is allowed"
	judge[policyv1.PodDisruptionBudget](t, []judgement{
		{"just made", `{metadata: {generation: 2}}`, unseen},
		{"its controller is behind", `{metadata: {generation: 2}, status: {observedGeneration: 1}}`, unseen},
		{"before its pods", `{metadata: {generation: 1}, status: {observedGeneration: 1, desiredHealthy: 1, expectedPods: 0, conditions: [
			{type: DisruptionAllowed, status: "False", reason: InsufficientPods, message: "", lastTransitionTime: null}]}}`, "met"},
		{"too few healthy pods", `{metadata: {generation: 1}, status: {observedGeneration: 1, currentHealthy: 1, desiredHealthy: 2, expectedPods: 3}}`, "met"},
		{"enough", `{metadata: {generation: 1}, status: {observedGeneration: 1, currentHealthy: 3, desiredHealthy: 2, expectedPods: 3, disruptionsAllowed: 1,
			conditions: [{type: DisruptionAllowed, status: "True", reason: SufficientPods, message: "", lastTransitionTime: null}]}}`, "met"},
		{"can't be computed", `{metadata: {generation: 1}, status: {observedGeneration: 1, conditions: [
			{type: DisruptionAllowed, status: "False", reason: SyncFailed, message: "found no controllers", lastTransitionTime: null}]}}`, uncounted},
		{"could never be computed", `{metadata: {generation: 1}, status: {conditions: [
			{type: DisruptionAllowed, status: "False", reason: SyncFailed, message: "found no controllers", lastTransitionTime: null}]}}`, uncounted},
	}, differences{
		"just made":               "Current: it takes a status that isn't there for one that is up to date", // D1
		"can't be computed":       "Current: but the controller says that it has failed",
		"could never be computed": "Current: but the controller says that it has failed",
	})
}

func TestAutoscalerReadiness(t *testing.T) { // R38
	judge[autoscalingv2.HorizontalPodAutoscaler](t, []judgement{
		{"just made", `{metadata: {generation: 1}, spec: {}}`, "met"},
		{"without metrics", `{metadata: {generation: 1}, status: {observedGeneration: 1, conditions: [{type: AbleToScale, status: "True"},
			{type: ScalingActive, status: "False", reason: FailedGetResourceMetric}]}}`, "met"},
		{
			"not able", `{metadata: {generation: 1}, status: {observedGeneration: 1, conditions: [
			{type: AbleToScale, status: "False", reason: FailedGetScale, message: not found}]}}`, "unmet: FailedGetScale: it isn't able to scale",
		},
		{"not able before the spec changed", `{metadata: {generation: 2}, status: {observedGeneration: 1, conditions: [
			{type: AbleToScale, status: "False", reason: FailedGetScale, message: not found}]}}`, "met"},
	}, differences{
		"not able":                         "Current: it knows no rule for the kind",
		"not able before the spec changed": "InProgress: but it is there, which is all that is asked of it",
	})
	judge[autoscalingv1.HorizontalPodAutoscaler](t, []judgement{
		{"of the first version", `{metadata: {generation: 1}, status: {observedGeneration: 1}}`, "met"},
	}, nil)
}

func TestIngressReadiness(t *testing.T) { // R38
	judge[networkingv1.Ingress](t, []judgement{
		{"just made", `{metadata: {generation: 1}}`, "met"},
		{"with an address", `{metadata: {generation: 2}, status: {loadBalancer: {ingress: [{ip: 192.0.2.1}]}}}`, "met"},
	}, nil)
	judge[networkingv1.NetworkPolicy](t, []judgement{{"a policy", `{metadata: {generation: 1}}`, "met"}}, nil)
	judge[networkingv1.ServiceCIDR](t, []judgement{ // its group has kinds that report something, too
		{
			"addresses that overlap", `{metadata: {generation: 1}, status: {conditions: [
			{type: Ready, status: "False", reason: Overlap, message: overlaps, lastTransitionTime: null}]}}`, "unmet: Overlap: overlaps",
		},
	}, nil)
}

func TestDefinitionReadiness(t *testing.T) { // R38 D6
	const unestablished = "unmet: Progressing: its kind isn't established yet"
	const names = `{metadata: {generation: 2}, spec: {names: {plural: gadgets, singular: gadget, kind: Gadget, listKind: GadgetList}}, status: {
		acceptedNames: {plural: gadgets, singular: gadget, kind: Gadget, listKind: GadgetList}, `
	judge[apiextensionsv1.CustomResourceDefinition](t, []judgement{
		{"just made", `{metadata: {generation: 1}, spec: {names: {plural: gadgets, kind: Gadget}}}`, unestablished},
		{
			"names are taken", `{spec: {names: {plural: gadgets, kind: Gadget}}, status: {acceptedNames: {kind: Gadget},
			conditions: [{type: NamesAccepted, status: "False", reason: PluralConflict, message: '"gadgets" is already in use'},
			{type: Established, status: "False", reason: NotAccepted, message: not all names are accepted}]}}`,
			`unmet: PluralConflict: its names aren't accepted: "gadgets" is already in use`,
		},
		{
			"new names are taken", `{spec: {names: {plural: gadgets, kind: Gadget, shortNames: [g]}}, status: {acceptedNames: {plural: gadgets, kind: Gadget},
			conditions: [{type: NamesAccepted, status: "False", reason: ShortNamesConflict, message: '"g" is already in use'},
			{type: Established, status: "True"}]}}`, `unmet: ShortNamesConflict: its names aren't accepted: "g" is already in use`,
		},
		{"new names, not seen yet", `{spec: {names: {plural: gadgets, kind: Gadget, shortNames: [g]}}, status: {acceptedNames: {plural: gadgets, kind: Gadget},
			conditions: [{type: NamesAccepted, status: "True"}, {type: Established, status: "True"}]}}`, unestablished},
		{"names that were taken are given up", names + `conditions: [{type: NamesAccepted, status: "False", reason: ShortNamesConflict},
			{type: Established, status: "True"}]}}`, "met"},
		{"being installed", names + `conditions: [{type: NamesAccepted, status: "True", reason: NoConflicts},
			{type: Established, status: "False", reason: Installing}]}}`, unestablished},
		{"established", names + `conditions: [{type: NamesAccepted, status: "True", reason: NoConflicts},
			{type: Established, status: "True", reason: InitialNamesAccepted}]}}`, "met"},
		{
			"an older spec is served", names + `observedGeneration: 1, conditions: [{type: NamesAccepted, status: "True"}, {type: Established, status: "True"}]}}`,
			"unmet: Progressing: its controller hasn't seen generation 2 yet",
		},
	}, differences{
		"names are taken":                    "Failed: but names may be given back",
		"new names are taken":                "Failed: but names may be given back",
		"new names, not seen yet":            "Current: it doesn't ask of which spec a condition speaks",
		"names that were taken are given up": "Failed: but the server looks at names only while they differ, and leaves the condition",
	})
}

// What the tables take for granted of definitions is how a server behaves: defaults are in accepted names too, an
// update that doesn't touch names leaves the conditions as they are, and names that are given up leave them False.
func TestDefinitionOnServer(t *testing.T) { // R38 D6
	w, kind := newWorld(t), newVisitor()
	crd := kind.crd(t)
	becomes := func(crd client.Object, want string) {
		t.Helper()
		kind := crd.GetObjectKind().GroupVersionKind()
		w.waits(t, func(ctx context.Context) bool {
			untyped := &unstructured.Unstructured{}
			untyped.SetGroupVersionKind(kind)
			for _, obj := range []client.Object{&apiextensionsv1.CustomResourceDefinition{}, untyped} {
				if err := w.others.Get(ctx, client.ObjectKeyFromObject(crd), obj); err != nil {
					return false
				}
				if !strings.HasPrefix(dependent.Readiness(kind.GroupKind(), obj).String(), want) {
					return false
				}
			}
			return true
		}, "the definition doesn't become %s", want)
	}
	change := func(patch string) {
		t.Helper()
		if err := w.others.Patch(t.Context(), crd, client.RawPatch(types.MergePatchType, []byte(patch))); err != nil {
			t.Fatal(err)
		}
	}
	kind.comes(t, w)
	becomes(crd, "met")
	change(`{"metadata": {"labels": {"a": "b"}}, "spec": {"conversion": {"strategy": "None"}, "names": {"categories": ["all"]}}}`)
	becomes(crd, "met")

	other := kind.crd(t)
	other.SetName("guests." + kind.gvk.Group)
	names := map[string]any{"kind": "Guest", "plural": "guests", "shortNames": []any{"g"}}
	if err := unstructured.SetNestedMap(other.Object, names, "spec", "names"); err != nil {
		t.Fatal(err)
	}
	w.create(t, other)
	t.Cleanup(func() {
		if err := w.others.Delete(context.WithoutCancel(t.Context()), other); err != nil {
			t.Error(err)
		}
	})
	becomes(other, "met")
	change(`{"spec": {"names": {"shortNames": ["g"]}}}`)
	becomes(crd, "unmet: ShortNamesConflict")
	change(`{"spec": {"names": {"shortNames": null}}}`)
	becomes(crd, "met")
}

// An APIService is judged without its Go type.
func TestAPIServiceReadiness(t *testing.T) { // R38
	kind := schema.GroupVersionKind{Group: "apiregistration.k8s.io", Version: "v1", Kind: "APIService"}
	judgeUntyped(t, kind, []judgement{
		{"just made", `{spec: {service: {name: a}}}`, "unmet: Progressing: its server isn't available"},
		{"available", `{status: {conditions: [{type: Available, status: "True", reason: Passed}]}}`, "met"},
		{
			"doesn't answer", `{status: {conditions: [{type: Available, status: "False", reason: FailedDiscoveryCheck,
			message: "failing or missing response from https://10.0.0.7:443: no route to host"}]}}`,
			"unmet: FailedDiscoveryCheck: its server isn't available",
		},
	}, differences{
		"just made":      "Current: it knows no rule for the kind",
		"doesn't answer": "Current: it knows no rule for the kind",
	})
}

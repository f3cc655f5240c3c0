// SPDX-License-Identifier: Apache-2.0

package envtest_test

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// gadgetCRD defines a kind whose conditions are an atomic list, as a Go object.
func gadgetCRD() *apiextensionsv1.CustomResourceDefinition {
	object := func(properties map[string]apiextensionsv1.JSONSchemaProps) apiextensionsv1.JSONSchemaProps {
		return apiextensionsv1.JSONSchemaProps{Type: "object", Properties: properties}
	}
	text := apiextensionsv1.JSONSchemaProps{Type: "string"}
	condition := object(map[string]apiextensionsv1.JSONSchemaProps{"type": text, "status": text})
	schema := object(map[string]apiextensionsv1.JSONSchemaProps{
		"status": object(map[string]apiextensionsv1.JSONSchemaProps{
			"conditions": {
				Type:  "array",
				Items: &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &condition},
			},
		}),
	})
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "gadgets.test.espalier.dev"},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: "test.espalier.dev",
			Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{
				Kind: "Gadget", ListKind: "GadgetList", Plural: "gadgets", Singular: "gadget",
			},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name:    "v1",
				Served:  true,
				Storage: true,
				Schema:  &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &schema},
				Subresources: &apiextensionsv1.CustomResourceSubresources{
					Status: &apiextensionsv1.CustomResourceSubresourceStatus{},
				},
			}},
		},
	}
}

// newCustom is an object of a kind that the suite defines.
func newCustom(kind, namespace, name string) *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(schema.GroupVersionKind{Group: "test.espalier.dev", Version: "v1", Kind: kind})
	object.SetNamespace(namespace)
	object.SetName(name)
	return object
}

// newWidget is of the kind that comes from a file.
func newWidget(namespace, name string) *unstructured.Unstructured {
	return newCustom("Widget", namespace, name)
}

// newGadget is of the kind that comes from a Go object.
func newGadget(namespace, name string) *unstructured.Unstructured {
	return newCustom("Gadget", namespace, name)
}

// SPDX-License-Identifier: Apache-2.0

package dependent_test

import (
	"encoding/json"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var gadgetVersion = schema.GroupVersion{Group: "test.espalier.dev", Version: "v1"}

// Gadget is a custom resource with what custom resources are awkward for: numbers, quantities that the server takes
// for text, lists with keys and sets, defaults, and what no schema describes.
type Gadget struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitzero"`
	Spec              GadgetSpec   `json:"spec"`
	Status            GadgetStatus `json:"status,omitzero"`
}

// GadgetSpec is what somebody wants of a gadget.
type GadgetSpec struct {
	Ratio   float64                          `json:"ratio,omitempty"`
	Size    resource.Quantity                `json:"size,omitzero"`
	Comment *string                          `json:"comment,omitempty"`
	Parts   []GadgetPart                     `json:"parts,omitempty"`
	Tags    []string                         `json:"tags,omitempty"`
	Steps   []string                         `json:"steps,omitempty"`
	Seal    string                           `json:"seal,omitempty"`
	Mode    string                           `json:"mode,omitempty"`
	Free    map[string]*apiextensionsv1.JSON `json:"free,omitempty"`
}

// GadgetPart is an item of a list with keys, of which one has a default.
type GadgetPart struct {
	Name  string `json:"name"`
	Side  string `json:"side,omitempty"`
	Count int64  `json:"count"`
}

// GadgetStatus is what is known of a gadget.
type GadgetStatus struct {
	ObservedGeneration int64              `json:"observedGeneration,omitempty"`
	Conditions         []metav1.Condition `json:"conditions,omitempty"`
}

// GadgetList is a list of gadgets.
type GadgetList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`
	Items           []Gadget `json:"items"`
}

// DeepCopyObject returns a deep copy.
func (g *Gadget) DeepCopyObject() runtime.Object { return copied(g) }

// DeepCopyObject returns a deep copy.
func (l *GadgetList) DeepCopyObject() runtime.Object { return copied(l) }

// copied copies by way of JSON, which is slow but right.
func copied[T any](of *T) *T {
	text, err := json.Marshal(of)
	if err != nil {
		panic(err)
	}
	out := new(T)
	if err := json.Unmarshal(text, out); err != nil {
		panic(err)
	}
	return out
}

func addGadgets(s *runtime.Scheme) error { //nolint:unparam // it has the form of every AddToScheme
	s.AddKnownTypes(gadgetVersion, &Gadget{}, &GadgetList{})
	metav1.AddToGroupVersion(s, gadgetVersion)
	return nil
}

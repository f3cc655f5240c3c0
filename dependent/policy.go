// SPDX-License-Identifier: Apache-2.0

package dependent

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// policy is what is refined on nodes that write objects. Its zero value is the default.
type policy struct {
	anyNamespace bool
	deletesData  bool
	propagation  metav1.DeletionPropagation
}

// Policies are the refinements of nodes that write objects. The handles of this package embed it beside workflow.Base.
type Policies[Self any] struct {
	policy policy
	self   Self
}

// AnyNamespace lets the object be outside the primary's namespace. Such an object can't be left to the garbage
// collector; without it a namespace other than the primary's is refused.
func (p *Policies[Self]) AnyNamespace() Self {
	p.policy.anyNamespace = true
	return p.self
}

// DeletesData lets the node delete an object that holds data (a PersistentVolumeClaim, a StatefulSet with claims, …)
// when it is no longer wanted. Without it such an object is deleted with its primary only.
func (p *Policies[Self]) DeletesData() Self {
	p.policy.deletesData = true
	return p.self
}

// Propagation sets how deletion cascades to what the object itself owns; the default is in the background.
func (p *Policies[Self]) Propagation(how metav1.DeletionPropagation) Self {
	p.policy.propagation = how
	return p.self
}

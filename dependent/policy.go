// SPDX-License-Identifier: Apache-2.0

package dependent

import (
	"errors"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// policy is what is refined on nodes that write objects. Its zero value is the default.
type policy struct {
	cluster      string // "" is the Engine's own
	anyNamespace bool
	deletesData  bool
	propagation  metav1.DeletionPropagation

	adopt        Adoption
	takesControl bool
	deletesTaken bool // what was adopted
	formerNames  []string
	formerKinds  []client.Object
	yields       bool // on a conflict, instead of forcing
	once         bool // written once, then left alone
	drift        Correction
	ignored      []string // paths
	recreate     Recreation
	recreateOn   []string // paths
	unwanted     Disposal
	primaryGoes  Disposal
}

// check lists what can't be meant.
func (p *policy) check() error {
	var errs []error
	if p.takesControl && p.adopt != Always {
		errs = append(errs, errors.New("TakeControl() says nothing without Adopt(Always)"))
	}
	if p.adopt > Always {
		errs = append(errs, fmt.Errorf("Adopt(%d) is none of Refuse, IfUnowned and Always", p.adopt))
	}
	for _, how := range []Disposal{p.unwanted, p.primaryGoes} {
		if how > Protect {
			errs = append(errs, fmt.Errorf("Disposal %d is none of Delete, Orphan and Protect", how))
		}
	}
	for _, name := range p.formerNames {
		if name == "" {
			errs = append(errs, errors.New("FormerNames has an empty name"))
		}
	}
	if p.drift > Report {
		errs = append(errs, fmt.Errorf("Drift(%d) is none of Correct and Report", p.drift))
	}
	if p.recreate > ContentNamed {
		errs = append(errs, fmt.Errorf("Recreate(%d) is none of Never, WhenImmutable and ContentNamed", p.recreate))
	}
	_, unread := parsePaths(slices.Concat(p.ignored, p.recreateOn))
	return errors.Join(append(errs, unread...)...)
}

// Policies are the refinements of nodes that write objects. The handles of this package embed it beside workflow.Base.
type Policies[Self any] struct {
	policy   policy
	self     Self
	activate func() // makes the node inactive while its kind isn't served
}

// InCluster says that the object is in another cluster, of a name that [EngineOptions.Clusters] knows. As long as that
// can't be reached nothing is known of the object: it is never taken for absent. It can't be left to the garbage
// collector.
func (p *Policies[Self]) InCluster(name string) Self {
	p.policy.cluster = name
	return p.self
}

// WhenServed makes the node inactive as long as the object's kind isn't served, for optional APIs; without it the node
// waits for the kind. That one comes or goes is noticed by watching definitions and APIServices, where the operator may
// list and watch these; otherwise it is asked for every half minute. See [Served].
func (p *Policies[Self]) WhenServed() Self {
	p.activate()
	return p.self
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

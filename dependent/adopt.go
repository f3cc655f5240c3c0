// SPDX-License-Identifier: Apache-2.0

package dependent

import (
	"cmp"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Adoption says what a node does about an object that exists already under the desired name and isn't its own. What the
// node had before is its own, whatever the policy: what the primary owns without tracking, as an operator before this
// one left it; what is tracked for one of its [Policies.FormerNames]; and what was written for an earlier life of the
// same primary, as a restored backup has it. What another node of the primary has is never adopted.
type Adoption uint8

const (
	// Refuse fails the node, reason NotOwned, and names the owner. It is the default.
	Refuse Adoption = iota
	// IfUnowned adopts what nobody owns: what has no owner reference, and isn't tracked.
	IfUnowned
	// Always adopts also what others own, if they don't control it.
	Always
)

// Adopt sets what happens to an object that exists already and isn't the node's. One that is adopted gets the desired
// state, as if it had been made by the node; what it had before is not restored. It is released, not deleted, when it
// is no longer wanted: see [Policies.DeleteAdopted].
func (p *Policies[Self]) Adopt(when Adoption) Self {
	p.policy.adopt = when
	return p.self
}

// TakeControl lets Adopt(Always) also take what another controller, or another primary of this operator, controls. Its
// owner reference is removed. The other isn't told: it must be known to have given up the object.
func (p *Policies[Self]) TakeControl() Self {
	p.policy.takesControl = true
	return p.self
}

// DeleteAdopted lets the node delete what it has adopted, as if it had made it. Without it such an object is released:
// tracking and owner reference are taken off, and what is in it stays.
func (p *Policies[Self]) DeleteAdopted() Self {
	p.policy.deletesTaken = true
	return p.self
}

// standing is how an object that exists stands to the node that wants it.
type standing uint8

const (
	own       standing = iota // tracked for it
	inherited                 // its own before, under other marks
	adopted                   // somebody else's so far
)

// standing says how an object stands to a node, or why the node can't have it.
func (o *object[P, T]) standing(t tracking, obj client.Object) (standing, error) {
	has := o.engine.read(obj)
	switch {
	case has.instance() == t.instance():
		return own, nil
	case has.owner == t.owner && o.wasCalled(t, has):
		return inherited, nil
	case has.owner == t.owner:
		return own, refuse("ClaimedBy", "%s is managed by node %q of workflow %q: give one of them another name",
			o.source.called(obj), has.title(), has.workflow)
	case has.owner == "" && isOwned(obj, t.owner), o.wasCalled(t, has) && o.isReborn(t, has, obj):
		return inherited, nil
	case o.mayAdopt(has, obj):
		return adopted, nil
	default:
		return own, refuse("NotOwned", "%s %s", o.source.called(obj), o.engine.whose(has, obj))
	}
}

// wasCalled reports whether a tracking is the node's own, but for the owner, under its name or a former one.
func (o *object[P, T]) wasCalled(t, has tracking) bool {
	has.owner = t.owner
	return has.instance() == t.instance() || slices.ContainsFunc(o.policy.formerNames, func(name string) bool {
		return has.instance() == t.formerly(name).instance()
	})
}

// isReborn reports whether an object was written for a primary that bore the name which is now the primary's: names are
// unique, so that one has gone. In another cluster there may be objects of primaries of a third.
func (o *object[P, T]) isReborn(t, has tracking, obj client.Object) bool {
	e := o.engine
	if has.owner == "" || o.source.cluster != "" {
		return false
	}
	named := obj.GetAnnotations()[e.label(primaryAnnotation)] == t.primaryFrom(obj.GetNamespace())
	for _, ref := range obj.GetOwnerReferences() {
		stale := e.isStale(t, ref)
		if isController(ref) && !stale {
			return false
		}
		named = named || stale
	}
	return named
}

// isStale reports whether an owner reference is to an earlier life of the primary.
func (e *Engine) isStale(t tracking, ref metav1.OwnerReference) bool {
	group, err := schema.ParseGroupVersion(ref.APIVersion)
	return err == nil && group.Group == e.options.Primary.Group && ref.Kind == e.options.Primary.Kind &&
		ref.Name == t.primary.Name && ref.UID != t.owner
}

func (o *object[P, T]) mayAdopt(has tracking, obj client.Object) bool {
	controlled := has.owner != "" || slices.ContainsFunc(obj.GetOwnerReferences(), isController)
	switch o.policy.adopt {
	case IfUnowned:
		return has.owner == "" && len(obj.GetOwnerReferences()) == 0
	case Always:
		return !controlled || o.policy.takesControl
	default:
		return false
	}
}

// whose says whose an object is, and what to do about it.
func (e *Engine) whose(has tracking, obj client.Object) string {
	owners := obj.GetOwnerReferences()
	switch controller := slices.IndexFunc(owners, isController); {
	case has.owner != "":
		name := cmp.Or(obj.GetAnnotations()[e.label(primaryAnnotation)], "of another name")
		return fmt.Sprintf("belongs to another primary, %s, with UID %s: choose another name", name, has.owner)
	case controller >= 0:
		return fmt.Sprintf("is controlled by %s %q: choose another name, or declare the node with Adopt(Always) and "+
			"TakeControl()", owners[controller].Kind, owners[controller].Name)
	case len(owners) > 0:
		return fmt.Sprintf("is owned by %s %q: choose another name, or declare the node with Adopt(Always)",
			owners[0].Kind, owners[0].Name)
	default:
		return "exists already and isn't this primary's: choose another name, remove it, or declare the node with " +
			"Adopt(IfUnowned)"
	}
}

func isOwned(obj client.Object, by types.UID) bool {
	return slices.ContainsFunc(obj.GetOwnerReferences(), func(ref metav1.OwnerReference) bool { return ref.UID == by })
}

func isController(ref metav1.OwnerReference) bool { return ref.Controller != nil && *ref.Controller }

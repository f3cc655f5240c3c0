// SPDX-License-Identifier: Apache-2.0

package dependent

import (
	"context"
	"errors"
	"maps"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/espalier-dev/espalier/internal/writes"
)

// Disposal says what becomes of an object that isn't to be managed any more.
type Disposal uint8

const (
	// Delete deletes it. It is the default.
	Delete Disposal = iota
	// Orphan releases it: tracking and owner reference are taken off, and it stays as it is. It is nobody's then: to
	// have it again the node needs Adopt(IfUnowned).
	Orphan
	// Protect keeps it, tracking and all, and fails the node, reason Protected: what depends on its end waits until
	// somebody has deleted it, or the policy is another.
	Protect
)

// WhenUnwanted sets what becomes of the object when it is no longer wanted, while its primary stays.
func (p *Policies[Self]) WhenUnwanted(how Disposal) Self {
	p.policy.unwanted = how
	return p.self
}

// WhenPrimaryDeleted sets what becomes of the object when its primary is deleted. Anything but Delete keeps the object,
// and with it the connected part of the graph, from being left to the garbage collector, so that the primary needs a
// finalizer; with Protect the primary stays as long as the object does.
func (p *Policies[Self]) WhenPrimaryDeleted(how Disposal) Self {
	p.policy.primaryGoes = how
	return p.self
}

// keeps reports whether some object of the node may have to outlive its primary.
func (p *policy) keeps() bool {
	return p.primaryGoes != Delete || p.adopt != Refuse && !p.deletesTaken
}

// disposal says what becomes of an object.
func (o *object[P, T]) disposal(obj client.Object, primaryGoes bool) Disposal {
	how := o.policy.unwanted
	if primaryGoes {
		how = o.policy.primaryGoes
	}
	if how == Delete && o.engine.isAdopted(obj) && !o.policy.deletesTaken {
		return Orphan
	}
	return how
}

var errChanged = errors.New("it was changed meanwhile")

// release takes everything off an object that makes it ours, but for what is in it. Nobody owns its fields then: if it
// is adopted again some day, what isn't wanted then stays.
func (o *object[P, T]) release(ctx context.Context, in Target, owner types.UID, obj client.Object) error {
	e := o.engine
	want := marksOf(obj)
	want.Labels, want.Annotations = maps.Clone(want.Labels), maps.Clone(want.Annotations)
	for _, name := range [...]string{workflowLabel, nodeLabel, ownerLabel, keyLabel} {
		delete(want.Labels, e.label(name))
	}
	for _, name := range [...]string{primaryAnnotation, adoptedAnnotation, keyLabel} {
		delete(want.Annotations, e.label(name))
	}
	want.OwnerReferences = slices.DeleteFunc(slices.Clone(want.OwnerReferences),
		func(ref metav1.OwnerReference) bool { return ref.UID == owner })
	want.ManagedFields = e.disowned(obj)
	answer, err := o.source.settle(ctx, in, obj, want)
	key := o.source.key(client.ObjectKeyFromObject(obj))
	switch {
	case apierrors.IsNotFound(err):
		e.overlay.Drop(key)
		return nil
	case apierrors.IsConflict(err), writes.IsReplaced(err):
		return errChanged
	case err != nil:
		return classify(o.source.gvk.GroupKind(), "releasing "+o.source.called(obj), err)
	}
	e.overlay.Put(key, answer)
	e.disown(owner, key)
	return nil
}

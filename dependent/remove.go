// SPDX-License-Identifier: Apache-2.0

package dependent

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/espalier-dev/espalier/internal/writes"
	"github.com/espalier-dev/espalier/workflow"
)

// Delete parts with every object that carries the node's tracking, each under the UID that was seen.
func (o *object[P, T]) Delete(r *workflow.Run[P]) (workflow.Removal, error) {
	found, err := o.find(r)
	if err != nil {
		return workflow.Removal{}, err
	}
	removal, err := o.partWith(r, found)
	for _, former := range o.formerly {
		if err != nil || !removal.Gone {
			break
		}
		removal, err = former.Delete(r)
	}
	return removal, err
}

// partWith deletes or releases objects, or says why they stay.
func (o *object[P, T]) partWith(r *workflow.Run[P], found []client.Object) (workflow.Removal, error) {
	var deleted, released, going []client.Object
	for _, obj := range found {
		switch how := o.disposal(obj, r.Deleting()); {
		case o.isGoing(obj):
			going = append(going, obj)
		case how == Protect:
			return workflow.Removal{}, refuse("Protected",
				"%s is protected: delete it by hand, or change the policy of the node", o.source.called(obj))
		case how == Orphan:
			released = append(released, obj)
		case o.protectsData(obj) && !r.Deleting():
			return workflow.Removal{Reason: "DataProtected", Message: o.source.called(obj) +
				" holds data: declare the node with DeletesData(), or delete it by hand"}, nil
		default:
			deleted, going = append(deleted, obj), append(going, obj)
		}
	}
	if len(deleted)+len(released) == 0 {
		return o.going(going), nil
	}
	now, err := o.source.ready(r.Context())
	if err != nil {
		return workflow.Removal{}, err
	}
	return workflow.Removal{Do: func(ctx context.Context) (workflow.Removal, error) {
		err := o.each(released, func(obj client.Object) error {
			return o.release(ctx, now.target, r.Primary().GetUID(), obj)
		})
		failed := o.each(deleted, func(obj client.Object) error { return o.delete(ctx, now.target, obj) })
		if err == nil {
			err = failed
		}
		if errors.Is(err, errChanged) {
			return workflow.Removal{Reason: "Changed", Message: "the object was changed meanwhile", Poll: again}, nil
		}
		removal := o.going(going)
		removal.Operation = workflow.Release
		if len(deleted) > 0 {
			removal.Operation = workflow.Delete
		}
		return removal, err
	}}, nil
}

// going says what a deletion waits for. The cache tells when it has ended.
func (o *object[P, T]) going(found []client.Object) workflow.Removal {
	if len(found) == 0 {
		return workflow.Removal{Gone: true}
	}
	message := ""
	for _, obj := range found {
		message = fmt.Sprintf("%s %q is being deleted%s", o.source.gvk.Kind, obj.GetName(), finalizers(obj))
		if len(obj.GetFinalizers()) > 0 {
			break
		}
	}
	return workflow.Removal{Reason: "Terminating", Message: message}
}

// each returns the first error: an object that can't be parted with doesn't hold the others.
func (*object[P, T]) each(objects []client.Object, do func(client.Object) error) (failed error) {
	for _, obj := range objects {
		if err := do(obj); err != nil && failed == nil {
			failed = err
		}
	}
	return failed
}

func (o *object[P, T]) delete(ctx context.Context, in Target, obj client.Object) error {
	uid := obj.GetUID()
	target, ok := obj.DeepCopyObject().(client.Object)
	if !ok {
		return errors.New("copying the object: it is no object")
	}
	how := cmp.Or(o.policy.propagation, metav1.DeletePropagationBackground)
	err := in.GetClient().Delete(ctx, target,
		client.Preconditions{UID: &uid}, client.PropagationPolicy(how), client.DisableReadYourWritesConsistency)
	if err != nil && !apierrors.IsNotFound(err) && !writes.IsReplaced(err) {
		return classify(o.source.gvk.GroupKind(), fmt.Sprintf("deleting %s %q", o.source.gvk.Kind, obj.GetName()), err)
	}
	o.engine.overlay.Drop(o.source.key(client.ObjectKeyFromObject(obj)))
	o.engine.overlay.Deleted(uid)
	return nil
}

// protectsData reports whether an object may not be deleted by the node, since that would destroy data.
func (o *object[P, T]) protectsData(obj client.Object) bool {
	return !o.policy.deletesData && holdsData(o.source.gvk.GroupKind(), obj)
}

// holdsData reports whether deleting an object of this kind destroys what can't be made again.
func holdsData(kind schema.GroupKind, obj client.Object) bool {
	switch kind {
	case schema.GroupKind{Kind: "PersistentVolumeClaim"}, schema.GroupKind{Kind: "PersistentVolume"},
		schema.GroupKind{Kind: "Namespace"},
		schema.GroupKind{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}:
		return true
	}
	set, ok := obj.(*appsv1.StatefulSet)
	return ok && len(set.Spec.VolumeClaimTemplates) > 0
}

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

// Delete removes every object that carries the node's tracking, each under the UID that was seen.
func (o *object[P, T]) Delete(r *workflow.Run[P]) (workflow.Removal, error) {
	found, err := o.find(r)
	if err != nil {
		return workflow.Removal{}, err
	}
	if len(found) == 0 {
		return workflow.Removal{Gone: true}, nil
	}
	var staying []client.Object
	for _, obj := range found {
		if o.isGoing(obj) {
			continue
		}
		if holdsData(o.source.gvk.GroupKind(), obj) && !o.policy.deletesData && !r.Deleting() {
			return workflow.Removal{Reason: "DataProtected", Message: fmt.Sprintf(
				"%s %q holds data: declare the node with DeletesData(), or delete it by hand",
				o.source.gvk.Kind, obj.GetName())}, nil
		}
		staying = append(staying, obj)
	}
	if len(staying) == 0 {
		return o.going(found), nil
	}
	return workflow.Removal{Do: func(ctx context.Context) (workflow.Removal, error) {
		if err := o.deleteAll(ctx, staying); err != nil {
			return workflow.Removal{}, err
		}
		removal := o.going(found)
		removal.Operation = workflow.Delete
		return removal, nil
	}}, nil
}

// going says what a deletion waits for. The cache tells when it has ended.
func (o *object[P, T]) going(found []client.Object) workflow.Removal {
	message := ""
	for _, obj := range found {
		message = fmt.Sprintf("%s %q is being deleted%s", o.source.gvk.Kind, obj.GetName(), finalizers(obj))
		if len(obj.GetFinalizers()) > 0 {
			break
		}
	}
	return workflow.Removal{Reason: "Terminating", Message: message}
}

// deleteAll returns the first error: an object that can't be deleted doesn't hold the others.
func (o *object[P, T]) deleteAll(ctx context.Context, objects []client.Object) (failed error) {
	for _, obj := range objects {
		if err := o.delete(ctx, obj); err != nil && failed == nil {
			failed = err
		}
	}
	return failed
}

func (o *object[P, T]) delete(ctx context.Context, obj client.Object) error {
	uid := obj.GetUID()
	target, ok := obj.DeepCopyObject().(client.Object)
	if !ok {
		return errors.New("copying the object: it is no object")
	}
	how := cmp.Or(o.policy.propagation, metav1.DeletePropagationBackground)
	err := o.engine.target.GetClient().Delete(ctx, target,
		client.Preconditions{UID: &uid}, client.PropagationPolicy(how), client.DisableReadYourWritesConsistency)
	if err != nil && !apierrors.IsNotFound(err) && !writes.IsReplaced(err) {
		return classify(o.source.gvk.GroupKind(), fmt.Sprintf("deleting %s %q", o.source.gvk.Kind, obj.GetName()), err)
	}
	o.engine.overlay.Drop(o.source.key(client.ObjectKeyFromObject(obj)))
	o.engine.overlay.Deleted(uid)
	return nil
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

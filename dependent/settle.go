// SPDX-License-Identifier: Apache-2.0

package dependent

import (
	"context"
	"encoding/json"
	"reflect"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// marks are what of an object's metadata an apply can't settle: it never takes off what others have put on.
type marks struct {
	Labels          map[string]string           `json:"labels"`
	Annotations     map[string]string           `json:"annotations"`
	OwnerReferences []metav1.OwnerReference     `json:"ownerReferences"`
	ManagedFields   []metav1.ManagedFieldsEntry `json:"managedFields"`
}

func marksOf(obj client.Object) marks {
	return marks{obj.GetLabels(), obj.GetAnnotations(), obj.GetOwnerReferences(), obj.GetManagedFields()}
}

// settle changes the marks of an object, if it is still as it was seen, with one request. It returns what is there
// then.
func (s *source) settle(ctx context.Context, in Target, seen client.Object, want marks) (client.Object, error) {
	type change struct {
		Op    string `json:"op"`
		Path  string `json:"path"`
		Value any    `json:"value"`
	}
	// A version that differs is answered with a conflict; a test operation would be an invalid request.
	patch := []change{{"replace", "/metadata/resourceVersion", seen.GetResourceVersion()}}
	have := marksOf(seen)
	add := func(field string, have, want any) {
		if !reflect.DeepEqual(have, want) {
			patch = append(patch, change{"add", "/metadata/" + field, want})
		}
	}
	add("labels", have.Labels, want.Labels)
	add("annotations", have.Annotations, want.Annotations)
	add("ownerReferences", have.OwnerReferences, want.OwnerReferences)
	add("managedFields", have.ManagedFields, want.ManagedFields)
	body, err := json.Marshal(patch)
	if err != nil {
		return nil, err
	}
	obj := s.fresh()
	obj.SetName(seen.GetName())
	obj.SetNamespace(seen.GetNamespace())
	err = in.GetClient().Patch(ctx, obj, client.RawPatch(types.JSONPatchType, body),
		client.FieldOwner(s.engine.options.FieldManager), client.DisableReadYourWritesConsistency)
	return obj, err
}

// inherit takes over an object that isn't tracked for the node yet, or that former managers own a part of: it takes off
// the owner references of an earlier primary and of a controller whose control is taken, and makes ours what former
// managers own. It returns the object as it is then: the one that was seen if nothing had to change.
func (w *write[P, T]) inherit(ctx context.Context, seen client.Object, how standing) (client.Object, error) {
	want := marksOf(seen)
	if how != own {
		want.OwnerReferences = slices.DeleteFunc(slices.Clone(want.OwnerReferences), func(ref metav1.OwnerReference) bool {
			isForeign := ref.UID != w.tracking.owner
			return w.engine().isStale(w.tracking, ref) || how == adopted && isForeign && isController(ref)
		})
	}
	switch w.object.policy.once {
	case true: // what is there is to stay, and isn't ours to remove
		want.ManagedFields = w.engine().disowned(seen)
	default:
		if w.engine().hasFormer(seen) {
			var err error
			if want.ManagedFields, err = w.engine().heir(seen); err != nil {
				return nil, err
			}
		}
	}
	if have := marksOf(seen); len(have.OwnerReferences) == len(want.OwnerReferences) &&
		reflect.DeepEqual(have.ManagedFields, want.ManagedFields) {
		return seen, nil
	}
	return w.object.source.settle(ctx, w.target, seen, want)
}

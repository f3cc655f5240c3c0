// SPDX-License-Identifier: Apache-2.0

package dependent

import (
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	toolscache "k8s.io/client-go/tools/cache"
)

// KeepOwnFields returns a transform for the manager's cache that spares most of the memory that managed fields take: it
// keeps those of one field manager, the operator's, and of all others only who they are. It takes the place of
// controller-runtime's cache.TransformStripManagedFields, which also takes away what this package compares with, so
// that every change would cost a request, and by what it knows an object that somebody has copied with its labels.
func KeepOwnFields(manager string) toolscache.TransformFunc {
	return func(in any) (any, error) {
		obj, err := meta.Accessor(in)
		if err != nil {
			return in, nil //nolint:nilerr // a tombstone, say: what isn't an object has no managed fields
		}
		managed := obj.GetManagedFields()
		kept := make([]metav1.ManagedFieldsEntry, len(managed))
		for i, entry := range managed {
			if kept[i] = entry; entry.Manager != manager {
				kept[i] = metav1.ManagedFieldsEntry{Manager: entry.Manager, Operation: entry.Operation}
			}
		}
		if len(kept) > 0 {
			obj.SetManagedFields(kept)
		}
		return in, nil
	}
}

// SPDX-License-Identifier: Apache-2.0

package dependent

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	toolscache "k8s.io/client-go/tools/cache"
)

// KeepOwnFields returns a transform for the manager's cache that spares most of the memory that managed fields take: it
// keeps those of some field managers, the operator's own and its former ones, and of all others only who they are. It
// takes the place of controller-runtime's cache.TransformStripManagedFields, which also takes away what this package
// compares with: nodes refuse that, reason ManagedFieldsStripped. What the fields of others were can't be told then, so
// Drift(Report) needs them all. See [CacheOptions].
func KeepOwnFields(managers ...string) toolscache.TransformFunc {
	return func(in any) (any, error) {
		obj, err := meta.Accessor(in)
		if err != nil {
			return in, nil //nolint:nilerr // a tombstone, say: what isn't an object has no managed fields
		}
		managed := obj.GetManagedFields()
		kept := make([]metav1.ManagedFieldsEntry, len(managed))
		for i, entry := range managed {
			if kept[i] = entry; !slices.Contains(managers, entry.Manager) {
				kept[i] = metav1.ManagedFieldsEntry{Manager: entry.Manager, Operation: entry.Operation}
			}
		}
		if len(kept) > 0 {
			obj.SetManagedFields(kept)
		}
		return in, nil
	}
}

// SPDX-License-Identifier: Apache-2.0

package owned

import (
	"bytes"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// Entry returns what manager owns of an object by server-side apply, of the given subresource, as raw FieldsV1; nil if
// it owns nothing, or if it owns fields in more than one API version, which only the server can join.
func Entry(managed []metav1.ManagedFieldsEntry, manager, subresource, apiVersion string) []byte {
	var found []byte
	for i := range managed {
		e := &managed[i]
		if e.Manager != manager || e.Operation != metav1.ManagedFieldsOperationApply || e.Subresource != subresource {
			continue
		}
		if found != nil || e.APIVersion != apiVersion || e.FieldsV1 == nil {
			return nil
		}
		found = e.FieldsV1.GetRawBytes()
	}
	return found
}

// Parse decodes raw FieldsV1.
func Parse(raw []byte) (*fieldpath.Set, error) {
	set := &fieldpath.Set{}
	if err := set.FromJSON(bytes.NewReader(raw)); err != nil {
		return nil, fmt.Errorf("decoding managed fields: %w", err)
	}
	return set, nil
}

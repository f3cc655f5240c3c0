// SPDX-License-Identifier: Apache-2.0

package owned

import (
	"encoding/json"
	"hash"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// Digest writes the live values of all owned fields to h, in a stable order: two objects with equal digests have the
// same owned values.
func Digest(h hash.Hash64, set *fieldpath.Set, have any) {
	for _, e := range members(set) {
		live, _ := at(have, e)
		_, _ = h.Write([]byte(e.String()))
		if below, ok := set.Children.Get(e); ok {
			Digest(h, below, live)
			continue
		}
		text, err := json.Marshal(live)
		if err != nil {
			text = nil // not from JSON: never equal to anything that is
		}
		_, _ = h.Write(text)
		_, _ = h.Write([]byte{0})
	}
}

func at(have any, e fieldpath.PathElement) (any, bool) {
	switch have := have.(type) {
	case map[string]any:
		if e.FieldName != nil {
			v, ok := have[*e.FieldName]
			return v, ok
		}
	case []any:
		return find(have, e)
	}
	return nil, false
}

// SPDX-License-Identifier: Apache-2.0

package owned

import (
	"cmp"
	"encoding/json"
	"hash"
	"slices"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// Digest writes the live values of all owned fields to h, in a stable order: two objects with equal digests have the
// same owned values. Elements of a list are written in the order in which they stand in it.
func Digest(h hash.Hash64, set *fieldpath.Set, have any) {
	owned := members(set)
	if list, ok := have.([]any); ok {
		owned = inOrder(owned, list)
	}
	for _, e := range owned {
		live := at(have, e)
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

// inOrder sorts elements of a list as they stand in it.
func inOrder(elements []fieldpath.PathElement, list []any) []fieldpath.PathElement {
	places := make([]int, len(elements))
	order := make([]int, len(elements))
	for i, e := range elements {
		order[i], places[i] = i, find(list, e)
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(places[a], places[b]) })
	out := make([]fieldpath.PathElement, len(elements))
	for i, from := range order {
		out[i] = elements[from]
	}
	return out
}

// at returns the live value that a path element names, or nil.
func at(have any, e fieldpath.PathElement) any {
	switch have := have.(type) {
	case map[string]any:
		if e.FieldName != nil {
			return have[*e.FieldName]
		}
	case []any:
		if i := find(have, e); i >= 0 {
			return have[i]
		}
	}
	return nil
}

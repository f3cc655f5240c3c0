// SPDX-License-Identifier: Apache-2.0

package owned

import (
	"maps"
	"reflect"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// Field is a field of an object that a manager has set, or that somebody has removed: then the Manager is "".
type Field struct {
	Path    fieldpath.Path
	Manager string
}

// Taken returns the fields of the intent that others have set to another value: somebody else owns them, and we don't.
// What others own by way of a subresource counts, but for the status.
func (c Comparison) Taken(
	ours *fieldpath.Set, managed []metav1.ManagedFieldsEntry, isOurs func(metav1.ManagedFieldsEntry) bool,
) ([]Field, error) {
	var taken []Field
	for _, m := range managed {
		if isOurs(m) || m.Subresource == "status" || m.FieldsV1 == nil {
			continue
		}
		set, err := Parse(m.FieldsV1.GetRawBytes())
		if err != nil {
			return nil, err
		}
		set.Leaves().Iterate(func(p fieldpath.Path) {
			want, wanted := valueAt(c.Want, p, meant)
			have, there := valueAt(c.Have, p, find)
			if wanted && !ours.Has(p) && (!there || !reflect.DeepEqual(want, have)) {
				taken = append(taken, Field{Path: p.Copy(), Manager: m.Manager})
			}
		})
	}
	return taken, nil
}

// Missing returns the fields of an intent that was applied before and that are neither ours nor there: somebody has
// removed them. What is in a list is left out.
func (c Comparison) Missing(ours *fieldpath.Set) []Field {
	var missing []Field
	missingIn(ours, identified(c.Sent), c.Have, nil, &missing)
	return missing
}

func missingIn(ours *fieldpath.Set, sent map[string]any, have any, at fieldpath.Path, missing *[]Field) {
	live, _ := have.(map[string]any)
	for name, value := range sent {
		element := fieldpath.PathElement{FieldName: &name}
		path := append(at.Copy(), element)
		below, isParent := ours.Children.Get(element)
		if !isParent {
			below = &fieldpath.Set{}
		}
		inner, isObject := value.(map[string]any)
		switch _, there := live[name]; {
		case !isParent && ours.Members.Has(element):
		case isObject && there:
			missingIn(below, inner, live[name], path, missing)
		case !isParent && !there:
			*missing = append(*missing, Field{Path: path})
		}
	}
}

// meant returns where the element of a list is that can be what a path element names: the intent may leave to the
// server what the server then names it by. It is -1 if that isn't just one.
func meant(list []any, e fieldpath.PathElement) int {
	found := -1
	for i, item := range list {
		if may(e, item) {
			if found >= 0 {
				return -1
			}
			found = i
		}
	}
	return found
}

// valueAt returns the value that a path names, and whether it is there.
func valueAt(at any, p fieldpath.Path, find func([]any, fieldpath.PathElement) int) (any, bool) {
	for _, e := range p {
		switch v := at.(type) {
		case map[string]any:
			if e.FieldName == nil {
				return nil, false
			}
			below, ok := v[*e.FieldName]
			if !ok {
				return nil, false
			}
			at = below
		case []any:
			i := find(v, e)
			if i < 0 {
				return nil, false
			}
			at = v[i]
		default:
			return nil, false
		}
	}
	return at, true
}

// Without returns an intent without some fields. What leads to them is copied.
func Without(sent map[string]any, fields []Field) map[string]any {
	var out any = sent
	for _, f := range fields {
		out = remove(out, f.Path)
	}
	left, _ := out.(map[string]any)
	return left
}

func remove(at any, p fieldpath.Path) any {
	switch v := at.(type) {
	case map[string]any:
		if p[0].FieldName == nil {
			return at
		}
		below, ok := v[*p[0].FieldName]
		if !ok {
			return at
		}
		v = maps.Clone(v)
		if len(p) == 1 {
			delete(v, *p[0].FieldName)
		} else {
			v[*p[0].FieldName] = remove(below, p[1:])
		}
		return v
	case []any:
		i := meant(v, p[0])
		if i < 0 {
			return at
		}
		v = slices.Clone(v)
		if len(p) == 1 {
			return slices.Delete(v, i, i+1)
		}
		v[i] = remove(v[i], p[1:])
		return v
	default:
		return at
	}
}

// SPDX-License-Identifier: Apache-2.0

package owned

import (
	"maps"
	"reflect"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// Comparison is an intent beside what is live. The zero value compares nothing with nothing.
type Comparison struct {
	// Sent is the intent as it is sent: what of it is owned is known by its keys.
	Sent map[string]any
	// Want and Have are the intent and the live object, both as the kind's Go type sees them, so that one value has one
	// form. For kinds without a Go type they are the intent and the object themselves.
	Want, Have map[string]any
}

// Unchanged reports whether applying the intent would change nothing: every field of the intent is owned and has its
// value, and nothing else is owned.
func (c Comparison) Unchanged(owned *fieldpath.Set) bool {
	return fields(owned, identified(c.Sent), c.Want, c.Have)
}

// identified leaves out what managed fields never hold: the object's identity, and what guards the write.
func identified(sent map[string]any) map[string]any {
	out := make(map[string]any, len(sent))
	for k, v := range sent {
		switch k {
		case "apiVersion", "kind":
		case "metadata":
			if meta := without(v, "name", "namespace", "uid", "resourceVersion"); len(meta) > 0 {
				out[k] = meta
			}
		default:
			out[k] = v
		}
	}
	return out
}

func without(v any, keys ...string) map[string]any {
	m, _ := v.(map[string]any)
	out := make(map[string]any, len(m))
	maps.Copy(out, m)
	for _, k := range keys {
		delete(out, k)
	}
	return out
}

func walk(set *fieldpath.Set, sent, want, have any) bool {
	switch sent := sent.(type) {
	case map[string]any:
		w, _ := want.(map[string]any)
		h, ok := have.(map[string]any)
		return ok && fields(set, sent, w, h)
	case []any:
		w, _ := want.([]any)
		h, ok := have.([]any)
		return ok && len(w) == len(sent) && elements(set, sent, w, h)
	default:
		return false
	}
}

func fields(set *fieldpath.Set, sent, want, have map[string]any) bool {
	for k, v := range sent {
		element := fieldpath.PathElement{FieldName: &k}
		if below, ok := set.Children.Get(element); ok {
			if !walk(below, v, want[k], have[k]) {
				return false
			}
			continue
		}
		if !set.Members.Has(element) || !same(v, want[k], have, k) {
			return false
		}
	}
	return all(set, func(e fieldpath.PathElement) bool {
		if e.FieldName == nil {
			return false
		}
		_, ok := sent[*e.FieldName]
		return ok
	})
}

// same compares a value that is owned as a whole. What is owned and absent was there and left out by the Go type: it
// has its zero value.
func same(sent, want any, have map[string]any, key string) bool {
	if want == nil && !isZero(sent) {
		return false // the Go type doesn't know it
	}
	live, there := have[key]
	if !there {
		return isZero(want)
	}
	return reflect.DeepEqual(want, live)
}

func isZero(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case map[string]any:
		return len(v) == 0
	case []any:
		return len(v) == 0
	default:
		return reflect.ValueOf(v).IsZero()
	}
}

// elements walks a list of which single elements are owned. An apply puts them into the order of the intent, whatever
// others have put between them.
func elements(set *fieldpath.Set, sent, want, have []any) bool {
	owned := members(set)
	if len(owned) != len(sent) {
		return false
	}
	used, last := make([]bool, len(owned)), -1
	for i, item := range sent {
		at := match(owned, used, item)
		if at < 0 {
			return false
		}
		used[at] = true
		place := find(have, owned[at])
		if place <= last {
			return false
		}
		last = place
		below, ok := set.Children.Get(owned[at])
		if ok && !walk(below, item, want[i], have[place]) || !ok && !reflect.DeepEqual(want[i], have[place]) {
			return false
		}
	}
	return true
}

// match finds the only unused element that can be item; a key field that item lacks is one that the server defaults.
func match(owned []fieldpath.PathElement, used []bool, item any) int {
	found := -1
	for i, e := range owned {
		if used[i] || !may(e, item) {
			continue
		}
		if found >= 0 {
			return -1
		}
		found = i
	}
	return found
}

func may(e fieldpath.PathElement, item any) bool {
	switch {
	case e.Value != nil:
		return equal(*e.Value, item)
	case e.Key != nil:
		m, ok := item.(map[string]any)
		for _, f := range *e.Key {
			if v, there := m[f.Name]; there && !equal(f.Value, v) {
				return false
			}
		}
		return ok
	default:
		return false
	}
}

// find returns where the live element is that a path element names; -1 if it isn't there, or not just once.
func find(have []any, e fieldpath.PathElement) int {
	found := -1
	for i, item := range have {
		if e.Value != nil && equal(*e.Value, item) || e.Key != nil && named(e, item) {
			if found >= 0 {
				return -1
			}
			found = i
		}
	}
	return found
}

func named(e fieldpath.PathElement, item any) bool {
	m, ok := item.(map[string]any)
	for _, f := range *e.Key {
		if !equal(f.Value, m[f.Name]) {
			return false
		}
	}
	return ok
}

// equal compares a value of a path element with one from JSON. Path elements have whole numbers as floats.
func equal(v value.Value, item any) bool {
	if text, ok := item.(string); ok {
		return v.IsString() && v.AsString() == text
	}
	return value.Equals(v, value.NewValueInterface(item))
}

// members returns the elements directly below a set, each once.
func members(set *fieldpath.Set) []fieldpath.PathElement {
	var out []fieldpath.PathElement
	set.Members.Iterate(func(e fieldpath.PathElement) { out = append(out, e) })
	set.Children.Iterate(func(e fieldpath.PathElement) {
		if !set.Members.Has(e) {
			out = append(out, e)
		}
	})
	return out
}

func all(set *fieldpath.Set, holds func(fieldpath.PathElement) bool) bool {
	for _, e := range members(set) {
		if !holds(e) {
			return false
		}
	}
	return true
}

// SPDX-License-Identifier: Apache-2.0

package path

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// Path names a field. The zero value is the object itself.
type Path struct {
	text  string
	steps []step
}

// step goes from a value to one inside it: a field of an object, or the element of a list that has a value in a field.
type step struct{ field, is string }

func (s step) picks() bool { return s.is != "" }

// names reports whether the element of a field path is what the step goes to.
func (s step) names(e fieldpath.PathElement) bool {
	if !s.picks() {
		return e.FieldName != nil && *e.FieldName == s.field
	}
	if e.Key == nil {
		return false
	}
	return slices.ContainsFunc(*e.Key, func(f value.Field) bool {
		return f.Name == s.field && fmt.Sprint(f.Value.Unstructured()) == s.is
	})
}

// Parse reads names that are joined by dots. In brackets stands a name that has dots in it, or which element of a
// list is meant, as field=value.
func Parse(text string) (Path, error) {
	p, rest := Path{text: text}, text
	for rest != "" {
		name := ""
		if inside, ok := strings.CutPrefix(rest, "["); ok {
			var closed bool
			if name, rest, closed = strings.Cut(inside, "]"); !closed {
				return p, fmt.Errorf("the path %q has a bracket that isn't closed", text)
			}
			rest = strings.TrimPrefix(rest, ".")
		} else {
			end := strings.IndexAny(rest, ".[")
			if end < 0 {
				end = len(rest)
			}
			name, rest = rest[:end], strings.TrimPrefix(rest[end:], ".")
		}
		field, is, picks := strings.Cut(name, "=")
		if field == "" || picks && (is == "" || len(p.steps) == 0) {
			return p, fmt.Errorf("the path %q has an empty name", text)
		}
		p.steps = append(p.steps, step{field, is})
	}
	if len(p.steps) == 0 || strings.HasSuffix(text, ".") {
		return p, fmt.Errorf("the path %q has an empty name", text)
	}
	if p.steps[len(p.steps)-1].picks() {
		return p, fmt.Errorf("the path %q ends with an element of a list: name a field of it", text)
	}
	return p, nil
}

// String returns the path as it was written.
func (p Path) String() string { return p.text }

// Of returns the value that the path names in an object, and whether it is there.
func (p Path) Of(object map[string]any) (any, bool) {
	var at any = object
	for _, s := range p.steps {
		if s.picks() {
			list, _ := at.([]any)
			i := s.find(list)
			if i < 0 {
				return nil, false
			}
			at = list[i]
			continue
		}
		m, _ := at.(map[string]any)
		value, ok := m[s.field]
		if !ok {
			return nil, false
		}
		at = value
	}
	return at, true
}

func (s step) find(list []any) int {
	return slices.IndexFunc(list, func(item any) bool {
		m, _ := item.(map[string]any)
		value, ok := m[s.field]
		return ok && fmt.Sprint(value) == s.is
	})
}

// With returns an object in which the path has a value, or nothing if there is none. What leads there is copied; an
// object that hasn't what leads there is returned as it is.
func (p Path) With(object map[string]any, to any, there bool) map[string]any {
	out, _ := with(object, p.steps, to, there).(map[string]any)
	return out
}

func with(at any, steps []step, to any, there bool) any {
	s := steps[0]
	if s.picks() {
		list, _ := at.([]any)
		if i := s.find(list); i >= 0 {
			list = slices.Clone(list)
			list[i] = with(list[i], steps[1:], to, there)
			return list
		}
		return at
	}
	m, ok := at.(map[string]any)
	below, has := m[s.field]
	switch {
	case !ok, len(steps) > 1 && !has:
		return at
	case len(steps) > 1:
		to, there = with(below, steps[1:], to, there), true
	}
	m = maps.Clone(m)
	if there {
		m[s.field] = to
	} else {
		delete(m, s.field)
	}
	return m
}

// In reports whether the field, or something in it, is in a set.
func (p Path) In(set *fieldpath.Set) bool {
	if set == nil {
		return false
	}
	return in(set, p.steps)
}

func in(set *fieldpath.Set, steps []step) bool {
	found := false
	visit := func(e fieldpath.PathElement, below *fieldpath.Set) {
		switch {
		case found || !steps[0].names(e):
		case len(steps) == 1 || below == nil:
			found = true
		default:
			found = in(below, steps[1:])
		}
	}
	set.Members.Iterate(func(e fieldpath.PathElement) {
		if _, ok := set.Children.Get(e); !ok {
			visit(e, nil)
		}
	})
	set.Children.Iterate(func(e fieldpath.PathElement) {
		below, _ := set.Children.Get(e)
		visit(e, below)
	})
	return found
}

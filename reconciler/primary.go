// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"fmt"
	"maps"
	"reflect"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// statusFields says which of the fields that the library fills a primary's status has.
type statusFields struct{ conditions, observedGeneration, nodes bool }

// takeStatus returns a function that takes the status off a copy of a primary, so that no node ever sees it, and the
// managed fields, which tell of it. All reflection on the type happens here, once.
func takeStatus[P client.Object]() (func(P), statusFields, error) {
	t := reflect.TypeFor[P]()
	if t == reflect.TypeFor[*unstructured.Unstructured]() {
		return takeUnstructured[P], statusFields{conditions: true, observedGeneration: true}, nil
	}
	if t.Kind() != reflect.Pointer || t.Elem().Kind() != reflect.Struct {
		return nil, statusFields{}, fmt.Errorf("primary %s: want a pointer to a struct, or *unstructured.Unstructured", t)
	}
	field, err := statusField(t.Elem())
	if err != nil {
		return nil, statusFields{}, err
	}
	has := statusFields{
		conditions:         has(field.Type, "conditions", isConditions),
		observedGeneration: has(field.Type, "observedGeneration", isWhole),
		nodes:              has(field.Type, "nodes", isRows),
	}
	if !has.conditions {
		return nil, has, fmt.Errorf("primary %s: its status has no field conditions: add a []metav1.Condition", t)
	}
	return func(p P) {
		p.SetManagedFields(nil)
		reflect.ValueOf(p).Elem().FieldByIndex(field.Index).SetZero()
	}, has, nil
}

// takeUnstructured copies the maps that it changes: they may be shared with the cache.
func takeUnstructured[P client.Object](p P) {
	u, _ := any(p).(*unstructured.Unstructured)
	u.Object = maps.Clone(u.Object)
	delete(u.Object, "status")
	if meta, ok := u.Object["metadata"].(map[string]any); ok {
		meta = maps.Clone(meta)
		delete(meta, "managedFields")
		u.Object["metadata"] = meta
	}
}

// statusField finds the field that is "status" in JSON. What would have to be reached through a pointer is refused: it
// might be shared with the cache.
func statusField(t reflect.Type) (reflect.StructField, error) {
	for _, f := range reflect.VisibleFields(t) {
		if jsonName(f) != "status" {
			continue
		}
		if f.Type.Kind() == reflect.Pointer {
			return f, fmt.Errorf("primary %s: its status is a pointer: make it a struct", t)
		}
		at := t
		for _, i := range f.Index[:len(f.Index)-1] {
			if at = at.Field(i).Type; at.Kind() == reflect.Pointer {
				return f, fmt.Errorf("primary %s: its status is inside an embedded pointer, %s: embed the struct", t, at)
			}
		}
		return f, nil
	}
	return reflect.StructField{}, fmt.Errorf("primary %s: it has no status: add one, with the subresource", t)
}

// has reports whether a status has a field of this name in JSON, of a type that the library can fill.
func has(status reflect.Type, name string, fits func(reflect.Type) bool) bool {
	if status.Kind() != reflect.Struct {
		return false
	}
	for _, f := range reflect.VisibleFields(status) {
		if jsonName(f) == name {
			return fits(f.Type)
		}
	}
	return false
}

func isConditions(t reflect.Type) bool { return t == reflect.TypeFor[[]metav1.Condition]() }

func isWhole(t reflect.Type) bool { return t.Kind() == reflect.Int64 }

// isRows tells the library's table of nodes from a field of the author's that is called nodes too.
func isRows(t reflect.Type) bool {
	if t.Kind() != reflect.Slice {
		return false
	}
	isText := func(t reflect.Type) bool { return t.Kind() == reflect.String }
	for _, name := range []string{"name", "state", "reason", "message"} {
		if !has(t.Elem(), name, isText) {
			return false
		}
	}
	return true
}

func jsonName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}

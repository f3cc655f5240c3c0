// SPDX-License-Identifier: Apache-2.0

// Package encode turns typed objects into what server-side apply should own.
package encode

import (
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// Object encodes a typed object by the tags of its own type: what is tagged omitempty or omitzero and is zero or empty
// is left out, structs included; what isn't tagged so is required by the type and sent; null never is. A plain
// json.Marshal would send zero structs and nulls, and own them.
func Object(obj any) (map[string]any, error) {
	fields, err := encode(reflect.ValueOf(obj))
	if err != nil {
		return nil, err
	}
	m, ok := fields.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("encoding a %T: it is no object", obj)
	}
	return m, nil
}

func encode(v reflect.Value) (any, error) {
	if m, ok := marshaler(v); ok {
		return throughJSON(m)
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return nil, nil
		}
		return encode(v.Elem())
	case reflect.Struct:
		out := map[string]any{}
		return out, encodeFields(v, out)
	case reflect.Map:
		return encodeMap(v)
	case reflect.Slice, reflect.Array:
		if isBytes(v.Type()) {
			return throughJSON(v.Interface())
		}
		return encodeList(v)
	default:
		return throughJSON(v.Interface())
	}
}

func isBytes(t reflect.Type) bool {
	return t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Uint8
}

func encodeMap(v reflect.Value) (any, error) {
	if v.IsNil() {
		return nil, nil
	}
	out := make(map[string]any, v.Len())
	for _, k := range v.MapKeys() {
		value, err := encode(v.MapIndex(k))
		if err != nil {
			return nil, err
		}
		if value == nil && isBytes(v.Type().Elem()) {
			value = "" // an empty file is a file
		}
		if value != nil {
			out[fmt.Sprint(k.Interface())] = value
		}
	}
	return out, nil
}

func encodeList(v reflect.Value) (any, error) {
	if v.Kind() == reflect.Slice && v.IsNil() {
		return nil, nil
	}
	out := make([]any, 0, v.Len())
	for i := range v.Len() {
		value, err := encode(v.Index(i))
		if err != nil {
			return nil, err
		}
		out = append(out, value)
	}
	return out, nil
}

func encodeFields(v reflect.Value, into map[string]any) error {
	t := v.Type()
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "-":
		case name == "" && isInline(f):
			if value := reflect.Indirect(v.Field(i)); value.IsValid() {
				if err := encodeFields(value, into); err != nil {
					return err
				}
			}
		case f.IsExported():
			name = cmp.Or(name, f.Name)
			if err := encodeField(v.Field(i), name, options, into); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	return nil
}

// isInline reports whether the fields of f are those of the struct that it is embedded in. It may be unexported.
func isInline(f reflect.StructField) bool {
	t := f.Type
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return f.Anonymous && t.Kind() == reflect.Struct
}

func encodeField(v reflect.Value, name, options string, into map[string]any) error {
	mayOmit := strings.Contains(options, "omitempty") || strings.Contains(options, "omitzero")
	if mayOmit && isEmpty(v) {
		return nil
	}
	value, err := encode(v)
	if err != nil || value == nil {
		return err
	}
	if m, ok := value.(map[string]any); ok && mayOmit && len(m) == 0 && v.Kind() == reflect.Struct {
		if _, itself := marshaler(v); !itself {
			return nil
		}
	}
	into[name] = value
	return nil
}

func isEmpty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Map, reflect.Slice:
		return v.Len() == 0
	default:
		return v.IsZero()
	}
}

// marshaler returns v as something that encodes itself, by value or by its address.
func marshaler(v reflect.Value) (json.Marshaler, bool) {
	if v.Kind() == reflect.Pointer && v.IsNil() || !v.CanInterface() {
		return nil, false
	}
	if m, ok := reflect.TypeAssert[json.Marshaler](v); ok {
		return m, true
	}
	at := reflect.New(v.Type())
	if m, ok := reflect.TypeAssert[json.Marshaler](at); ok {
		at.Elem().Set(v)
		return m, true
	}
	return nil, false
}

// throughJSON gives a value the form that decoding JSON gives it: whole numbers are int64.
func throughJSON(v any) (any, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	var out any
	err = utiljson.Unmarshal(text, &out)
	return out, err
}

// SPDX-License-Identifier: Apache-2.0

package path_test

import (
	"reflect"
	"strings"
	"testing"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/espalier-dev/espalier/internal/path"
)

func object() map[string]any {
	return map[string]any{
		"metadata": map[string]any{"annotations": map[string]any{"example.com/color": "red"}},
		"spec": map[string]any{
			"replicas": int64(3),
			"containers": []any{
				map[string]any{"name": "web", "image": "web:1"}, map[string]any{"name": "log", "image": "log:1"},
			},
			"ports": []any{map[string]any{"port": int64(80), "nodePort": int64(30080)}},
		},
	}
}

func mustParse(t *testing.T, text string) path.Path {
	t.Helper()
	p, err := path.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestPath(t *testing.T) { // R48
	const owned = `{"f:metadata":{"f:annotations":{"f:example.com/color":{}}},"f:spec":{"f:replicas":{},` +
		`"f:containers":{"k:{\"name\":\"web\"}":{".":{},"f:name":{},"f:image":{}}},` +
		`"f:ports":{"k:{\"port\":80}":{"f:nodePort":{}}}}}`
	set := &fieldpath.Set{}
	if err := set.FromJSON(strings.NewReader(owned)); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		path  string
		value any
		owned bool
	}{
		{"spec.replicas", int64(3), true},
		{"metadata.annotations[example.com/color]", "red", true},
		{"spec.containers[name=web].image", "web:1", true},
		{"spec.containers[name=log].image", "log:1", false},
		{"spec.ports[port=80].nodePort", int64(30080), true},
		{"spec.ports[port=81].nodePort", nil, false},
		{"spec.paused", nil, false},
		{"spec.replicas.deeper", nil, true},
		{"status", nil, false},
		{"metadata.annotations", map[string]any{"example.com/color": "red"}, true},
	}
	for _, test := range tests {
		t.Run(test.path, func(t *testing.T) {
			p := mustParse(t, test.path)
			value, there := p.Of(object())
			if !reflect.DeepEqual(value, test.value) || there != (test.value != nil) || p.String() != test.path {
				t.Errorf("it is %v, there: %t", value, there)
			}
			if p.In(set) != test.owned {
				t.Errorf("in the set: %t, want %t", p.In(set), test.owned)
			}
			before := object()
			if got, _ := p.Of(p.With(before, "new", true)); test.value != nil && got != "new" {
				t.Errorf("set, it is %v", got)
			}
			if _, there := p.Of(p.With(before, nil, false)); there {
				t.Error("removed, it is there")
			}
			if !reflect.DeepEqual(before, object()) {
				t.Error("the object itself was changed")
			}
		})
	}
}

// What isn't there is made where its parent is.
func TestWithNew(t *testing.T) {
	p := mustParse(t, "spec.containers[name=log].args")
	if value, ok := p.Of(p.With(object(), "x", true)); !ok || value != "x" {
		t.Errorf("got %v", value)
	}
	p = mustParse(t, "spec.template.labels")
	if got := p.With(object(), "x", true); !reflect.DeepEqual(got, object()) {
		t.Errorf("got %v", got)
	}
}

func TestParseRefuses(t *testing.T) { // R48
	for _, text := range []string{
		"", ".", "a.", ".a", "a..b", "a[", "a[b", "a[]", "a[=x]", "a[name=]", "[name=web].image", "a[name=web]",
	} {
		if p, err := path.Parse(text); err == nil || !strings.Contains(err.Error(), `"`+text+`"`) {
			t.Errorf("Parse(%q) = %v, %v", text, p, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{"spec.replicas", "a[b.c/d]", "a[name=x].b", "a[", "..", "[a]"} {
		f.Add(text)
	}
	f.Fuzz(func(_ *testing.T, text string) {
		p, err := path.Parse(text)
		if err == nil {
			p.Of(p.With(object(), "x", true))
			p.In(&fieldpath.Set{})
		}
	})
}

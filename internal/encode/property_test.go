// SPDX-License-Identifier: Apache-2.0

package encode_test

import (
	"encoding/json"
	"math/rand"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/apitesting/fuzzer"
	"k8s.io/apimachinery/pkg/api/equality"
	metafuzzer "k8s.io/apimachinery/pkg/apis/meta/fuzzer"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/randfill"

	"github.com/espalier-dev/espalier/internal/encode"
)

// Of every built-in kind: an object means the same whether it is encoded by its tags or by encoding/json, and what
// would be owned by mistake is left out.
func TestEveryKindKeepsItsMeaning(t *testing.T) { // R30
	fill := fuzzer.FuzzerFor(metafuzzer.Funcs, rand.NewSource(1), serializer.NewCodecFactory(scheme.Scheme))
	fill = fill.NilChance(0.6).NumElements(0, 2).Funcs(
		func(b *[]byte, c randfill.Continue) { *b = []byte(c.String(3)) },
		func(raw *runtime.RawExtension, _ randfill.Continue) { raw.Raw = []byte(`{"a":1}`) },
	)
	for _, gvk := range kinds() {
		t.Run(gvk.Version+"."+gvk.Group+"."+gvk.Kind, func(t *testing.T) {
			for range 10 {
				obj, err := scheme.Scheme.New(gvk)
				if err != nil {
					t.Fatal(err)
				}
				fill.Fill(obj)
				sent, err := encode.Object(obj)
				if err != nil {
					t.Fatal(err)
				}
				all := plain(t, obj)
				want, got := typed(t, gvk, all), typed(t, gvk, sent)
				if !equality.Semantic.DeepEqual(want, got) {
					t.Fatalf("want -, got +:\n%s", cmp.Diff(want, got))
				}
				if path := surplus(sent, all, ""); path != "" {
					t.Fatalf("%s is sent as %v", path, sent)
				}
			}
		})
	}
}

// Of every built-in kind: nothing is set, so nothing is sent but what the type requires.
func TestEveryKindSendsNoZeroes(t *testing.T) { // R30 E24
	for _, gvk := range kinds() {
		obj, err := scheme.Scheme.New(gvk)
		if err != nil {
			t.Fatal(err)
		}
		sent, err := encode.Object(obj)
		if err != nil {
			t.Fatal(err)
		}
		optional(t, gvk.Kind, reflect.ValueOf(obj).Elem(), sent)
	}
}

// optional fails if a field is sent that may be left out.
func optional(t *testing.T, path string, v reflect.Value, sent map[string]any) {
	t.Helper()
	for _, f := range reflect.VisibleFields(v.Type()) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		value, there := sent[name]
		switch below, isMap := value.(map[string]any); {
		case !there:
		case strings.Contains(options, "omit"):
			t.Errorf("%s.%s is sent, as %v", path, name, value)
		case value == nil:
			t.Errorf("%s.%s is sent, as null", path, name)
		case isMap && f.Type.Kind() == reflect.Struct:
			optional(t, path+"."+name, v.FieldByIndex(f.Index), below)
		}
	}
}

func kinds() []schema.GroupVersionKind {
	var out []schema.GroupVersionKind
	for gvk := range scheme.Scheme.AllKnownTypes() {
		obj, err := scheme.Scheme.New(gvk)
		if err != nil || gvk.Version == runtime.APIVersionInternal || strings.HasSuffix(gvk.Kind, "List") {
			continue
		}
		if strings.HasPrefix(gvk.Group, "auth") || gvk.Group == "certificates.k8s.io" {
			continue // requests, not objects: they have maps of lists, whose nil entries vanish
		}
		if v := reflect.ValueOf(obj).Elem(); v.Kind() == reflect.Struct && v.FieldByName("ObjectMeta").IsValid() {
			out = append(out, gvk)
		}
	}
	slices.SortFunc(out, func(a, b schema.GroupVersionKind) int { return strings.Compare(a.String(), b.String()) })
	return out
}

func typed(t *testing.T, gvk schema.GroupVersionKind, fields map[string]any) runtime.Object {
	t.Helper()
	text, err := json.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	obj, err := scheme.Scheme.New(gvk)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, obj); err != nil {
		t.Fatal(err)
	}
	return obj
}

// surplus returns where something is sent that encoding/json wouldn't send, or null is; "" if nowhere.
func surplus(sent, all any, path string) string {
	if sent == nil {
		return path
	}
	switch sent := sent.(type) {
	case map[string]any:
		all, ok := all.(map[string]any)
		for key, value := range sent {
			if _, there := all[key]; !ok || !there {
				return path + "." + key
			}
			if at := surplus(value, all[key], path+"."+key); at != "" {
				return at
			}
		}
	case []any:
		all, ok := all.([]any)
		if !ok || len(all) != len(sent) {
			return path
		}
		for i := range sent {
			if at := surplus(sent[i], all[i], path+"[]"); at != "" {
				return at
			}
		}
	default:
		if !reflect.DeepEqual(sent, all) {
			return path
		}
	}
	return ""
}

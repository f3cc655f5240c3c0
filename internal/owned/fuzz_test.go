// SPDX-License-Identifier: Apache-2.0

package owned_test

import (
	"hash/fnv"
	"reflect"
	"testing"

	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/espalier-dev/espalier/internal/owned"
)

// Whatever the managed fields and the objects look like, the walk ends, and it calls nothing unchanged of which a plain
// value differs.
func FuzzUnchanged(f *testing.F) { // R31
	for _, seed := range [][3]string{
		{`{"f:data":{"f:a":{}}}`, `{"data":{"a":"1"}}`, `{"data":{"a":"1","b":"2"}}`},
		{`{"f:a":{"k:{\"n\":1}":{".":{},"f:n":{}}}}`, `{"a":[{"n":1}]}`, `{"a":[{"n":1},{"n":2}]}`},
		{`{"f:a":{"v:\"x\"":{},"v:1":{}}}`, `{"a":["x",1]}`, `{"a":["x",1]}`},
		{`{"f:a":{"i:0":{}}}`, `{"a":[1]}`, `{"a":[1]}`},
		{`{"k:{\"n\":1}":{}}`, `{}`, `{}`},
		{`{"f:a":{"f:b":{}}}`, `{"a":[{"b":null}]}`, `{"a":"x"}`},
	} {
		f.Add([]byte(seed[0]), []byte(seed[1]), []byte(seed[2]))
	}
	f.Fuzz(func(t *testing.T, raw, sent, have []byte) {
		set, err := owned.Parse(raw)
		if err != nil {
			return
		}
		var intent, live map[string]any
		if utiljson.Unmarshal(sent, &intent) != nil || utiljson.Unmarshal(have, &live) != nil {
			return
		}
		owned.Digest(fnv.New64a(), set, live)
		if !(owned.Comparison{Sent: intent, Want: intent, Have: live}).Unchanged(set) {
			return
		}
		delete(intent, "apiVersion")
		delete(intent, "kind")
		delete(intent, "metadata")
		if at, ok := differing(intent, live); ok {
			t.Errorf("%s is judged unchanged, but differs from %s at %q", sent, have, at)
		}
	})
}

// differing looks for a value, on a path of fields, that is wanted, isn't zero and isn't there.
func differing(want, have map[string]any) (at string, found bool) {
	for key, value := range want {
		switch value := value.(type) {
		case map[string]any:
			below, _ := have[key].(map[string]any)
			if at, found := differing(value, below); found {
				return key + "." + at, true
			}
		case []any: // may stand among others
		case nil:
		default:
			if !reflect.ValueOf(value).IsZero() && !reflect.DeepEqual(value, have[key]) {
				return key, true
			}
		}
	}
	return "", false
}

// SPDX-License-Identifier: Apache-2.0

package owned_test

import (
	"hash/fnv"
	"testing"

	"github.com/espalier-dev/espalier/internal/owned"
)

func TestDigest(t *testing.T) { // R31
	const (
		entry = `{"f:map":{"f:a":{},"f:b":{}},"f:whole":{},"f:set":{"v:\"x\"":{},"v:\"v\"":{}},
			"f:list":{"k:{\"id\":1}":{".":{},"f:id":{},"f:v":{}},"k:{\"id\":2}":{".":{},"f:id":{}}}}`
		base = `{map: {a: "1", b: "2"}, whole: {c: [1, 2]}, set: [v, x], list: [{id: 1, v: a}, {id: 2}]}`
	)
	tests := []struct {
		name, have string
		same       bool
	}{
		{"the same", base, true},
		{"what isn't owned", `{map: {a: "1", b: "2", z: "3"}, whole: {c: [1, 2]}, set: [u, v, x], list: [{id: 0}, {id: 1, v: a, w: b}, {id: 2}], other: 1}`, true},
		{"a value", `{map: {a: "1", b: "3"}, whole: {c: [1, 2]}, set: [v, x], list: [{id: 1, v: a}, {id: 2}]}`, false},
		{"two values that change places", `{map: {a: "2", b: "1"}, whole: {c: [1, 2]}, set: [v, x], list: [{id: 1, v: a}, {id: 2}]}`, false},
		{"a value's type", `{map: {a: 1, b: "2"}, whole: {c: [1, 2]}, set: [v, x], list: [{id: 1, v: a}, {id: 2}]}`, false},
		{"inside a value owned as a whole", `{map: {a: "1", b: "2"}, whole: {c: [2, 1]}, set: [v, x], list: [{id: 1, v: a}, {id: 2}]}`, false},
		{"an element that has gone", `{map: {a: "1", b: "2"}, whole: {c: [1, 2]}, set: [v], list: [{id: 1, v: a}, {id: 2}]}`, false},
		{"the order of a set", `{map: {a: "1", b: "2"}, whole: {c: [1, 2]}, set: [x, v], list: [{id: 1, v: a}, {id: 2}]}`, false},
		{"the order of a list", `{map: {a: "1", b: "2"}, whole: {c: [1, 2]}, set: [v, x], list: [{id: 2}, {id: 1, v: a}]}`, false},
		{"an item's value", `{map: {a: "1", b: "2"}, whole: {c: [1, 2]}, set: [v, x], list: [{id: 1, v: b}, {id: 2}]}`, false},
		{"an item that is there twice", `{map: {a: "1", b: "2"}, whole: {c: [1, 2]}, set: [v, x], list: [{id: 1, v: a}, {id: 2}, {id: 2}]}`, false},
		{"nothing", `{}`, false},
	}
	set, err := owned.Parse([]byte(entry))
	if err != nil {
		t.Fatal(err)
	}
	sum := func(text string) uint64 {
		h := fnv.New64a()
		owned.Digest(h, set, decoded(t, text))
		return h.Sum64()
	}
	want := sum(base)
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := sum(test.have) == want; got != test.same {
				t.Errorf("equal digests: got %t, want %t", got, test.same)
			}
		})
	}
}

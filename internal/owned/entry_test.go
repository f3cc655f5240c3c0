// SPDX-License-Identifier: Apache-2.0

package owned_test

import (
	"testing"
	"unicode/utf8"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/espalier-dev/espalier/internal/owned"
)

func TestEntry(t *testing.T) { // R31 K4
	entry := func(manager string, operation metav1.ManagedFieldsOperationType, version, subresource, fields string) metav1.ManagedFieldsEntry {
		e := metav1.ManagedFieldsEntry{Manager: manager, Operation: operation, APIVersion: version, Subresource: subresource}
		if fields != "" {
			e.FieldsV1 = metav1.NewFieldsV1(fields)
		}
		return e
	}
	const apply, update = metav1.ManagedFieldsOperationApply, metav1.ManagedFieldsOperationUpdate
	tests := []struct {
		name    string
		managed []metav1.ManagedFieldsEntry
		want    string
	}{
		{name: "none"}, // E4
		{name: "ours among others", managed: []metav1.ManagedFieldsEntry{
			entry("them", apply, "v1", "", `{"f:a":{}}`), entry("us", update, "v1", "", `{"f:b":{}}`),
			entry("us", apply, "v1", "status", `{"f:c":{}}`), entry("us", apply, "v1", "", `{"f:d":{}}`),
		}, want: `{"f:d":{}}`},
		{name: "only of updates", managed: []metav1.ManagedFieldsEntry{entry("us", update, "v1", "", `{"f:a":{}}`)}},
		{name: "only of another manager", managed: []metav1.ManagedFieldsEntry{entry("us2", apply, "v1", "", `{"f:a":{}}`)}},
		{name: "in another version", managed: []metav1.ManagedFieldsEntry{entry("us", apply, "v1beta1", "", `{"f:a":{}}`)}},
		{name: "in two versions", managed: []metav1.ManagedFieldsEntry{
			entry("us", apply, "v1", "", `{"f:a":{}}`), entry("us", apply, "v1beta1", "", `{"f:a":{}}`),
		}},
		{name: "without fields", managed: []metav1.ManagedFieldsEntry{entry("us", apply, "v1", "", "")}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := owned.Entry(test.managed, "us", "", "v1"); string(got) != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

func TestParse(t *testing.T) { // R31
	for _, text := range []string{"", "[]", `"x"`, `{"x":{}}`, `{"k:x":{}}`, `{"f:a"`, `{"i:x":{}}`} {
		if set, err := owned.Parse([]byte(text)); err == nil {
			t.Errorf("Parse(%q) = %v, want an error", text, set)
		}
	}
}

// What can be decoded means the same after it was encoded and decoded again.
func FuzzParse(f *testing.F) { // R31
	for _, text := range []string{
		`{}`, `{".":{}}`, `{"f:a":{}}`, `{"f:a":{".":{},"f:b":{}}}`, `{"f:a":{"v:\"x\"":{}}}`, `{"f:a":{"i:0":{}}}`,
		`{"f:a":{"k:{\"port\":80,\"protocol\":\"TCP\"}":{".":{},"f:port":{}}}}`, `{"f:a":null}`, `{"f:a":1}`, `[`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		set, err := owned.Parse(raw)
		if err != nil || !utf8.Valid(raw) {
			return
		}
		again, err := set.ToJSON()
		if err != nil {
			t.Fatalf("encoding what was decoded: %v", err)
		}
		twice, err := owned.Parse(again)
		if err != nil {
			t.Fatalf("decoding %s: %v", again, err)
		}
		if !set.Equals(twice) {
			t.Errorf("%s isn't %s", set, twice)
		}
	})
}

// SPDX-License-Identifier: Apache-2.0

package dependent_test

import (
	"fmt"
	"testing"

	"github.com/espalier-dev/espalier/dependent"
)

func ExampleDigest() {
	settings := map[string]string{"level": "info", "theme": "dark"}
	digest, err := dependent.Digest(settings, []byte("certificate"))
	fmt.Println(digest, err)
	// Output: d420427bff5263c4e060e4ae0bd9d6ee <nil>
}

func TestDigest(t *testing.T) {
	seen := map[string]int{}
	for i, values := range [][]any{
		{}, {""}, {"", ""}, {"a", "b"}, {"ab"}, {"a,1:b"}, {map[string]string{"a": "b"}}, {map[string]int{}}, {nil}, {1}, {"1"},
	} {
		digest, err := dependent.Digest(values...)
		if other, known := seen[digest]; known || err != nil || len(digest) != 32 {
			t.Errorf("%d: %q, like %d: %v", i, digest, other, err)
		}
		seen[digest] = i
	}
	if _, err := dependent.Digest(1, func() {}); err == nil || err.Error() != "digesting value 2, a func(): json: unsupported type: func()" {
		t.Errorf("got %v", err)
	}
}

// SPDX-License-Identifier: Apache-2.0

package v1_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime"

	v1 "github.com/espalier-dev/espalier/examples/webapp/api/v1"
)

func TestAddToScheme(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := v1.AddToScheme(scheme); err != nil {
		t.Fatalf("AddToScheme: %v", err)
	}
	for _, kind := range []string{v1.Kind, v1.Kind + "List", "PatchOptions"} {
		if gvk := v1.GroupVersion().WithKind(kind); !scheme.Recognizes(gvk) {
			t.Errorf("the scheme doesn't know %v", gvk)
		}
	}
}

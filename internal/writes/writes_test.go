// SPDX-License-Identifier: Apache-2.0

package writes_test

import (
	"errors"
	"fmt"
	"net/http"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/espalier-dev/espalier/internal/writes"
)

func TestIsReplaced(t *testing.T) { // R33
	conflict := func(text string) error {
		return apierrors.NewConflict(schema.GroupResource{Resource: "configmaps"}, "settings", errors.New(text))
	}
	invalid := func(at *field.Path) error {
		return apierrors.NewInvalid(schema.GroupKind{Kind: "ConfigMap"}, "settings", field.ErrorList{
			field.Invalid(at, "uid-1", "field is immutable"),
		})
	}
	fieldConflict := apierrors.NewApplyConflict([]metav1.StatusCause{{
		Type: metav1.CauseTypeFieldManagerConflict, Field: ".data.uid",
	}}, "Apply failed with 1 conflict")
	tests := []struct {
		name string
		err  error
		want bool
	}{
		{"none", nil, false},
		{"an apply found nothing", conflict("uid mismatch: the provided object specified uid uid-1, and no existing object was found"), true},
		{"an apply found another", invalid(field.NewPath("metadata", "uid")), true},
		{"a delete found another", conflict("the UID in the precondition (uid-1) does not match the UID in record (uid-2)"), true},
		{"a delete was overtaken", conflict("Precondition failed: UID in precondition: uid-1, UID in object meta: uid-2"), true},
		{"wrapped", fmt.Errorf("applying: %w", invalid(field.NewPath("metadata", "uid"))), true},
		{"somebody was faster", conflict("the object has been modified; please apply your changes to the latest version and try again"), false},
		{"a field is another manager's", fieldConflict, false},
		{"invalid elsewhere", invalid(field.NewPath("metadata", "uids")), false},
		{"not found", apierrors.NewNotFound(schema.GroupResource{Resource: "configmaps"}, "settings"), false},
		{"no answer", http.ErrHandlerTimeout, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := writes.IsReplaced(test.err); got != test.want {
				t.Errorf("got %t, want %t", got, test.want)
			}
		})
	}
}

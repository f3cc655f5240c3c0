// SPDX-License-Identifier: Apache-2.0

// Package writes tells what the answer to a write under a UID means.
package writes

import (
	"errors"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// IsReplaced reports whether a write under a UID found another object, or none: 422 at metadata.uid, or a 409 that is
// about the UID. Any other 409 says that somebody else was faster, and that it is worth trying again.
func IsReplaced(err error) bool {
	if !apierrors.IsConflict(err) {
		return Names(err, "metadata.uid")
	}
	// The server gives no cause. The words are those for an apply, for a delete, and for a delete that was overtaken.
	return slices.ContainsFunc([]string{"uid mismatch", "UID in the precondition", "UID in precondition"},
		func(words string) bool { return strings.Contains(err.Error(), words) })
}

// Names reports whether an object was refused as invalid because of a field, or of something in it.
func Names(err error, field string) bool {
	return apierrors.IsInvalid(err) && hasCause(err, func(c metav1.StatusCause) bool {
		return c.Field == field || strings.HasPrefix(c.Field, field+"[") || strings.HasPrefix(c.Field, field+".")
	})
}

func hasCause(err error, is func(metav1.StatusCause) bool) bool {
	var status apierrors.APIStatus
	if !errors.As(err, &status) || status.Status().Details == nil {
		return false
	}
	return slices.ContainsFunc(status.Status().Details.Causes, is)
}

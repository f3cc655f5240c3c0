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

// IsReplaced reports whether a server-side apply with a UID found another object, or none: 422 at metadata.uid, or a
// 409 that isn't a conflict of field managers. What is sent has no resource version, so 409 means nothing else.
func IsReplaced(err error) bool {
	return Names(err, "metadata.uid") || apierrors.IsConflict(err) && !hasCause(err, func(c metav1.StatusCause) bool {
		return c.Type == metav1.CauseTypeFieldManagerConflict
	})
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

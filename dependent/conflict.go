// SPDX-License-Identifier: Apache-2.0

package dependent

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/espalier-dev/espalier/workflow"
)

// Force says whether fields that others manage are taken from them, which is the default. With false the node fails
// instead, reason Conflict, and names the other manager and its fields; nothing is written as long as they conflict.
func (p *Policies[Self]) Force(force bool) Self {
	p.policy.yields = !force
	return p.self
}

// conflict says whose fields an apply without force met; nil if that isn't what err is.
func (w *write[P, T]) conflict(err error) error {
	var status apierrors.APIStatus
	if !apierrors.IsConflict(err) || !errors.As(err, &status) || status.Status().Details == nil {
		return nil
	}
	var fields []string
	for _, cause := range status.Status().Details.Causes {
		if cause.Type == metav1.CauseTypeFieldManagerConflict {
			fields = append(fields, fmt.Sprintf("%s of %q", cause.Field, managerIn(cause.Message)))
		}
	}
	if len(fields) == 0 {
		return nil
	}
	slices.Sort(fields)
	return workflow.Because("Conflict", &serverError{cause: err, text: fmt.Sprintf(
		"applying %s: others manage what is to be changed: %s: leave these fields out, or declare the node with Force(true)",
		w.name(), strings.Join(slices.Compact(fields), ", "))})
}

// managerIn finds the manager that the server names in a message such as: conflict with "kubectl" using apps/v1.
func managerIn(message string) string {
	_, rest, _ := strings.Cut(message, `"`)
	name, _, _ := strings.Cut(rest, `"`)
	return name
}

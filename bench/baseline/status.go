// SPDX-License-Identifier: Apache-2.0

package baseline

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/espalier-dev/espalier/examples/webapp/api/v1"
)

// report updates the status, if it isn't so already.
func (r *Reconciler) report(ctx context.Context, app *v1.WebApp, waitsFor string, failed error) error {
	before := app.Status.DeepCopy()
	condition := metav1.Condition{
		Type: Condition, Status: metav1.ConditionTrue, Reason: "Deployed", ObservedGeneration: app.Generation,
	}
	switch {
	case failed != nil:
		condition.Status, condition.Reason, condition.Message = metav1.ConditionFalse, "Failed", failed.Error()
	case waitsFor != "":
		condition.Status, condition.Reason, condition.Message = metav1.ConditionFalse, "Waiting", "for "+waitsFor
	}
	apimeta.SetStatusCondition(&app.Status.Conditions, condition)
	if app.Status.URL = ""; app.Spec.Expose {
		app.Status.URL = "http://" + hostOf(app)
	}
	if equality.Semantic.DeepEqual(before, &app.Status) {
		return nil
	}
	if err := r.Status().Update(ctx, app); err != nil {
		return fmt.Errorf("updating the status: %w", err)
	}
	return nil
}

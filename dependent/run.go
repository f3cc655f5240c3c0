// SPDX-License-Identifier: Apache-2.0

package dependent

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/espalier-dev/espalier/workflow"
)

// Run runs a graph for a primary in a reconciler that is written by hand: a Reconcile, or a Cleanup if it is being
// deleted. The runner is bound to an Engine with [workflow.NewRunner]. Status and managed fields of the primary don't
// reach the graph. Finalizer, status and requeueing are the caller's matter: see [workflow.Runner.NeedsCleanup],
// [workflow.Result.RequeueAfter], and call [Engine.Forget] and Forget of the runner when the primary has gone.
func Run[P client.Object](ctx context.Context, runner *workflow.Runner[P], primary P) (*workflow.Result, error) {
	bare, err := withoutStatus(primary)
	if err != nil {
		return nil, fmt.Errorf("running the graph for %q: %w", primary.GetName(), err)
	}
	subject := workflow.Subject[P]{Primary: bare, ID: string(primary.GetUID()), Revision: primary.GetGeneration()}
	if primary.GetDeletionTimestamp() != nil {
		return runner.Cleanup(ctx, subject), nil
	}
	return runner.Reconcile(ctx, subject), nil
}

// withoutStatus copies a primary but for what nobody may read.
func withoutStatus[P client.Object](primary P) (P, error) {
	bare, ok := primary.DeepCopyObject().(P)
	if !ok {
		return bare, errors.New("its DeepCopyObject returns another type")
	}
	bare.SetManagedFields(nil)
	if u, ok := any(bare).(*unstructured.Unstructured); ok {
		unstructured.RemoveNestedField(u.Object, "status")
		return bare, nil
	}
	if v := reflect.Indirect(reflect.ValueOf(bare)); v.Kind() == reflect.Struct {
		if status := v.FieldByName("Status"); status.CanSet() {
			status.SetZero()
		}
	}
	return bare, nil
}

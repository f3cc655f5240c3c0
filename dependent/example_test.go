// SPDX-License-Identifier: Apache-2.0

package dependent_test

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/espalier-dev/espalier/dependent"
	v1 "github.com/espalier-dev/espalier/examples/webapp/api/v1"
	"github.com/espalier-dev/espalier/workflow"
)

// A Reconcile that is written by hand applies single objects: one request if something has to change, otherwise none.
func ExampleEngine_Apply() { //nolint:testableexamples // it needs a cluster
	reconcile := func(ctx context.Context, engine *dependent.Engine, app *v1.WebApp) error {
		applied, err := engine.Apply(ctx, app, "config", &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Name: dependent.Name(app, "config")},
			Data:       app.Spec.Settings,
		})
		if err != nil {
			return err
		}
		if !applied.Ready.Holds() {
			return nil // its watch brings the next run
		}
		fmt.Println(applied.Operation, applied.Object.GetResourceVersion())
		return nil
	}
	_ = reconcile
}

// A Reconcile that is written by hand runs a graph for a part of what it does. The runner is made once:
//
//	runner, err := workflow.NewRunner(graph, engine, workflow.Options{})
func ExampleRun() { //nolint:testableexamples // it needs a cluster
	reconcile := func(ctx context.Context, runner *workflow.Runner[*v1.WebApp], app *v1.WebApp) (ctrl.Result, error) {
		result, err := dependent.Run(ctx, runner, app)
		if err != nil {
			return ctrl.Result{}, err
		}
		return ctrl.Result{RequeueAfter: result.RequeueAfter()}, result.Err()
	}
	_ = reconcile
}

func ExampleName() {
	app := &v1.WebApp{ObjectMeta: metav1.ObjectMeta{Name: "shop"}}
	fmt.Println(dependent.Name(app, "config"))
	// Output: shop-config
}

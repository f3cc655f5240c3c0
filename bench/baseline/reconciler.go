// SPDX-License-Identifier: Apache-2.0

package baseline

import (
	"context"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	v1 "github.com/espalier-dev/espalier/examples/webapp/api/v1"
)

const (
	// Manager is the field manager under which the Reconciler writes.
	Manager = "webapp-controller"
	// Finalizer is what it puts on a WebApp.
	Finalizer = "webapp.example.com/cleanup"
	// Condition is the type of the condition that it keeps.
	Condition = "Deployed"
)

// retry is after how long it looks again while something isn't ready.
const retry = 5 * time.Second

// Reconciler is the operator. Its fields are required.
type Reconciler struct {
	client.Client
}

// SetupWithManager adds the Reconciler to a manager.
func SetupWithManager(mgr ctrl.Manager) error {
	r := &Reconciler{Client: client.WithFieldOwner(mgr.GetClient(), Manager)}
	return ctrl.NewControllerManagedBy(mgr).Named("baseline").
		For(&v1.WebApp{}).
		Owns(&corev1.ConfigMap{}).Owns(&corev1.Secret{}).Owns(&corev1.Service{}).
		Owns(&appsv1.StatefulSet{}).Owns(&batchv1.Job{}).Owns(&appsv1.Deployment{}).
		Owns(&networkingv1.Ingress{}).Owns(&autoscalingv2.HorizontalPodAutoscaler{}).
		Complete(r)
}

// Reconcile brings one WebApp a step further.
func (r *Reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	app := &v1.WebApp{}
	if err := r.Get(ctx, req.NamespacedName, app); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !app.DeletionTimestamp.IsZero() {
		return r.end(ctx, app)
	}
	if controllerutil.AddFinalizer(app, Finalizer) {
		if err := r.Update(ctx, app); err != nil {
			return ctrl.Result{}, fmt.Errorf("adding the finalizer: %w", err)
		}
	}
	what, err := r.bring(ctx, app)
	if statusErr := r.report(ctx, app, what, err); err == nil {
		err = statusErr
	}
	if err != nil || what == "" {
		return ctrl.Result{}, err
	}
	return ctrl.Result{RequeueAfter: retry}, nil
}

// bring does what can be done now, and says what isn't ready yet.
func (r *Reconciler) bring(ctx context.Context, app *v1.WebApp) (waitsFor string, err error) {
	for _, ensure := range []func(context.Context, *v1.WebApp) error{
		r.ensureConfig, r.ensureCredentials, r.ensureDirectory, r.ensureDatabase,
	} {
		if err := ensure(ctx, app); err != nil {
			return "", err
		}
	}
	if ready, err := r.databaseReady(ctx, app); err != nil || !ready {
		return "the database", err
	}
	if err := r.ensureMigration(ctx, app); err != nil {
		return "", err
	}
	if done, err := r.migrated(ctx, app); err != nil || !done {
		return "the migration", err
	}
	for _, ensure := range []func(context.Context, *v1.WebApp) error{
		r.ensureWeb, r.ensureService, r.ensureIngress, r.ensureAutoscaler,
	} {
		if err := ensure(ctx, app); err != nil {
			return "", err
		}
	}
	if ready, err := r.webReady(ctx, app); err != nil || !ready {
		return "the application", err
	}
	return "", nil
}

// ensure makes an object what mutate makes it.
func (r *Reconciler) ensure(ctx context.Context, app *v1.WebApp, obj client.Object, mutate func()) error {
	_, err := controllerutil.CreateOrUpdate(ctx, r.Client, obj, func() error {
		mutate()
		return controllerutil.SetControllerReference(app, obj, r.Scheme())
	})
	if err != nil {
		return fmt.Errorf("ensuring %T %s: %w", obj, obj.GetName(), err)
	}
	return nil
}

// remove deletes an object that isn't wanted, if it is there.
func (r *Reconciler) remove(ctx context.Context, obj client.Object) error {
	err := r.Get(ctx, client.ObjectKeyFromObject(obj), obj)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err == nil {
		err = r.Delete(ctx, obj)
	}
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("removing %T %s: %w", obj, obj.GetName(), err)
	}
	return nil
}

// end deletes the application before its database, and then lets the WebApp go.
func (r *Reconciler) end(ctx context.Context, app *v1.WebApp) (ctrl.Result, error) {
	for _, obj := range []client.Object{
		&networkingv1.Ingress{ObjectMeta: meta(app, "")}, &appsv1.Deployment{ObjectMeta: meta(app, "")},
		&appsv1.StatefulSet{ObjectMeta: meta(app, "-db")},
	} {
		if err := r.remove(ctx, obj); err != nil {
			return ctrl.Result{}, err
		}
	}
	if controllerutil.RemoveFinalizer(app, Finalizer) {
		if err := r.Update(ctx, app); err != nil {
			return ctrl.Result{}, fmt.Errorf("removing the finalizer: %w", client.IgnoreNotFound(err))
		}
	}
	return ctrl.Result{}, nil
}

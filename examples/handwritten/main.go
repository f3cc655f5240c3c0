// SPDX-License-Identifier: Apache-2.0

// Package main is an operator whose Reconcile is written by hand, with this library's write path in the place of
// CreateOrUpdate: one request per changed object, none at rest. It is how an operator that exists can begin.
package main

import (
	"context"
	"os"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2/textlogger"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/espalier-dev/espalier/dependent"
	v1 "github.com/espalier-dev/espalier/examples/webapp/api/v1"
)

// Reconciler owns a ConfigMap and a Deployment per WebApp.
type Reconciler struct {
	client.Client
	engine *dependent.Engine
}

// Reconcile brings both into the state that is wanted.
func (r *Reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	app := &v1.WebApp{}
	if err := r.Get(ctx, req.NamespacedName, app); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if app.DeletionTimestamp != nil { // the garbage collector removes what the WebApp owns
		r.engine.Forget(app.UID)
		return ctrl.Result{}, nil
	}
	config := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: dependent.Name(app, "config")}, Data: app.Spec.Settings,
	}
	if _, err := r.engine.Apply(ctx, app, "config", config); err != nil {
		return ctrl.Result{}, err
	}
	web, err := r.engine.Apply(ctx, app, "web", deployment(app, config.Name))
	if err != nil {
		return ctrl.Result{}, err
	}
	ctrl.LoggerFrom(ctx).V(1).Info("Applied the Deployment", "operation", web.Operation, "ready", web.Ready.String())
	return ctrl.Result{}, nil
}

// SetupWithManager watches the WebApps and what they own.
func SetupWithManager(mgr ctrl.Manager) error {
	if err := v1.AddToScheme(mgr.GetScheme()); err != nil {
		return err
	}
	engine, err := dependent.NewEngine(mgr, dependent.EngineOptions{
		FieldManager: "handwritten-operator", Primary: v1.GroupVersion().WithKind("WebApp"),
	})
	if err != nil {
		return err
	}
	return ctrl.NewControllerManagedBy(mgr).For(&v1.WebApp{}).Owns(&corev1.ConfigMap{}).Owns(&appsv1.Deployment{}).
		Complete(&Reconciler{Client: mgr.GetClient(), engine: engine})
}

func main() {
	ctrl.SetLogger(textlogger.NewLogger(textlogger.NewConfig()))
	if err := start(); err != nil {
		ctrl.Log.Error(err, "Operator ended")
		os.Exit(1)
	}
}

func start() error {
	mgr, err := ctrl.NewManager(ctrl.GetConfigOrDie(), ctrl.Options{})
	if err != nil {
		return err
	}
	if err := SetupWithManager(mgr); err != nil {
		return err
	}
	return mgr.Start(ctrl.SetupSignalHandler())
}

func deployment(app *v1.WebApp, config string) *appsv1.Deployment {
	labels := map[string]string{"app.kubernetes.io/instance": dependent.Name(app)}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: dependent.Name(app)},
		Spec: appsv1.DeploymentSpec{
			Replicas: app.Spec.Replicas,
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{Containers: []corev1.Container{{
					Name: "web", Image: app.Spec.Image,
					EnvFrom: []corev1.EnvFromSource{{ConfigMapRef: &corev1.ConfigMapEnvSource{
						LocalObjectReference: corev1.LocalObjectReference{Name: config},
					}}},
				}}},
			},
		},
	}
}

// SPDX-License-Identifier: Apache-2.0

// Package main is the quick start of the README: the smallest operator, complete.
package main

import (
	"os"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coreac "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/klog/v2/textlogger"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/espalier-dev/espalier/dependent"
	v1 "github.com/espalier-dev/espalier/examples/webapp/api/v1"
	"github.com/espalier-dev/espalier/reconciler"
	"github.com/espalier-dev/espalier/workflow"
)

type run = *workflow.Run[*v1.WebApp]

// Graph declares what a WebApp owns.
func Graph() (*workflow.Workflow[*v1.WebApp], error) {
	b := workflow.NewBuilder[*v1.WebApp]("quickstart")

	config := dependent.Apply[corev1.ConfigMap](b, "config",
		func(r run) (*coreac.ConfigMapApplyConfiguration, error) {
			app := r.Primary()
			return coreac.ConfigMap(dependent.Name(app, "config"), app.Namespace).WithData(app.Spec.Settings), nil
		})

	web := dependent.Typed(b, "web", func(r run) (*appsv1.Deployment, error) {
		return deployment(r.Primary(), config.Get(r).Name), nil
	}).DependsOn(config)

	dependent.Apply[corev1.Service](b, "service",
		func(r run) (*coreac.ServiceApplyConfiguration, error) {
			return coreac.Service(web.Get(r).Name, r.Primary().Namespace).
				WithSpec(coreac.ServiceSpec().
					WithSelector(web.Get(r).Spec.Selector.MatchLabels).
					WithPorts(coreac.ServicePort().WithPort(80))), nil
		}).
		DependsOn(web).
		ReconcileWhen("exposed", func(r run) workflow.Verdict {
			return workflow.If(r.Primary().Spec.Expose, "NotExposed", "spec.expose is false")
		})

	return b.Build()
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
	if err := v1.AddToScheme(mgr.GetScheme()); err != nil {
		return err
	}
	graph, err := Graph()
	if err != nil {
		return err
	}
	if err := reconciler.New(graph, reconciler.Options[*v1.WebApp]{}).SetupWithManager(mgr); err != nil {
		return err
	}
	return mgr.Start(ctrl.SetupSignalHandler())
}

func deployment(app *v1.WebApp, config string) *appsv1.Deployment {
	labels := map[string]string{"app.kubernetes.io/instance": dependent.Name(app)}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: dependent.Name(app), Namespace: app.Namespace},
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

// SPDX-License-Identifier: Apache-2.0

// Package graph declares what a WebApp owns.
package graph

import (
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	coreac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/espalier-dev/espalier/dependent"
	v1 "github.com/espalier-dev/espalier/examples/webapp/api/v1"
	"github.com/espalier-dev/espalier/reconciler"
	"github.com/espalier-dev/espalier/workflow"
)

type run = *workflow.Run[*v1.WebApp]

// New returns the controller of WebApps.
func New() (*reconciler.Reconciler[*v1.WebApp], error) {
	w, err := Workflow()
	if err != nil {
		return nil, err
	}
	return reconciler.New(w, Options()), nil
}

// Options are those of the controller: what belongs to a WebApp is deleted in order, so that nothing goes while
// something uses it.
func Options() reconciler.Options[*v1.WebApp] {
	return reconciler.Options[*v1.WebApp]{OrderedDeletion: true, Summarize: summarize}
}

// Workflow declares the tree of objects that a WebApp owns.
func Workflow() (*workflow.Workflow[*v1.WebApp], error) {
	b := workflow.NewBuilder[*v1.WebApp]("webapp")

	config := dependent.Apply[corev1.ConfigMap](b, "config",
		func(r run) (*coreac.ConfigMapApplyConfiguration, error) {
			app := r.Primary()
			return coreac.ConfigMap(dependent.Name(app, "config"), app.Namespace).WithData(app.Spec.Settings), nil
		})

	credentials := dependent.Generate[corev1.Secret](b, "credentials",
		map[string]dependent.Generator{"password": dependent.RandomText(24)})

	directory := dependent.Apply[corev1.Service](b, "database-service", databaseService)

	database := dependent.Typed(b, "database", func(r run) (*appsv1.StatefulSet, error) {
		return databaseSet(r.Primary(), credentials.Get(r).Name, directory.Get(r).Name), nil
	}).DependsOn(credentials, directory)

	// A migration runs to its end before what needs it is rolled out.
	migration := dependent.Typed(b, "migration", func(r run) (*batchv1.Job, error) {
		return migrationJob(r.Primary(), credentials.Get(r).Name, directory.Get(r).Name), nil
	}).DependsOn(database)

	// Once it runs, a database that isn't ready for a while doesn't keep the application from being updated.
	web := dependent.Typed(b, "web", func(r run) (*appsv1.Deployment, error) {
		now, _ := workflow.Own[*appsv1.Deployment](r)
		d := webDeployment(r.Primary(), config.Get(r).Name, credentials.Get(r).Name, directory.Get(r).Name)
		d.Spec.Replicas = replicas(r.Primary(), now)
		return d, nil
	}).DependsOn(config, workflow.ToCreate(database), migration)

	service := dependent.Apply[corev1.Service](b, "service", webService).
		DependsOn(workflow.Applied(web))

	dependent.Apply[networkingv1.Ingress](b, "ingress", ingressTo(service)).
		DependsOn(service, web).
		ReconcileWhen("exposed", func(r run) workflow.Verdict {
			return workflow.If(r.Primary().Spec.Expose, "NotExposed", "spec.expose is false")
		})

	dependent.Apply[autoscalingv2.HorizontalPodAutoscaler](b, "autoscaler", autoscalerOf(web)).
		DependsOn(workflow.Applied(web)).
		ReconcileWhen("autoscaled", func(r run) workflow.Verdict {
			return workflow.If(r.Primary().Spec.Autoscale != nil, "NotAutoscaled", "spec.autoscale isn't set")
		})

	return b.Build()
}

// summarize fills the example's own field of the status.
func summarize(r run, _ *workflow.Result, into *v1.WebApp) {
	if r.Primary().Spec.Expose {
		into.Status.URL = "http://" + host(r.Primary())
	}
}

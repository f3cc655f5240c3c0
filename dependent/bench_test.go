// SPDX-License-Identifier: Apache-2.0

package dependent_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	appsac "k8s.io/client-go/applyconfigurations/apps/v1"
	coreac "k8s.io/client-go/applyconfigurations/core/v1"
	metaac "k8s.io/client-go/applyconfigurations/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/espalier-dev/espalier/dependent"
	v1 "github.com/espalier-dev/espalier/examples/webapp/api/v1"
	"github.com/espalier-dev/espalier/workflow"
)

// nodes is how many nodes a run of a benchmark has: enough for what a run itself costs not to count.
const nodes = 16

// A node with nothing to do, at each level of the comparison, beside controllerutil.CreateOrUpdate on the same objects
// out of the same cache: one after the other in one run, so that the machine is the same.
func BenchmarkNothingToDo(b *testing.B) { // R31
	kinds := []struct {
		name     string
		declare  func(b builder, name string)
		baseline func(ctx context.Context, c client.Client, app *v1.WebApp, name string) error
	}{
		{"ConfigMap", func(b builder, name string) {
			dependent.Typed(b, name, func(run) (*corev1.ConfigMap, error) { return benchConfigMap(name), nil })
		}, updateConfigMap},
		{"Deployment", func(b builder, name string) {
			dependent.Typed(b, name, func(run) (*appsv1.Deployment, error) { return deployment(name), nil })
		}, updateDeployment},
		{"DeploymentConfiguration", func(b builder, name string) {
			dependent.Apply[appsv1.Deployment](b, name, func(run) (*appsac.DeploymentApplyConfiguration, error) {
				return deploymentConfiguration(name), nil
			})
		}, updateDeployment},
		{"Service", func(b builder, name string) {
			dependent.Typed(b, name, func(run) (*corev1.Service, error) { return benchService(name), nil })
		}, updateService},
	}
	levels := []struct {
		name    string
		disturb func(*dependent.Engine)
	}{
		{"L1", func(*dependent.Engine) {}}, {"L1b", dependent.Age}, {"L2", dependent.Restart},
	}
	for _, kind := range kinds {
		b.Run(kind.name, func(b *testing.B) {
			w := newWorld(b)
			runner := w.runner(b, func(b builder) {
				for i := range nodes {
					kind.declare(b, fmt.Sprintf("node-%d", i))
				}
			})
			settle(b, w, runner)
			c := w.cluster.GetClient()
			for _, level := range levels {
				b.Run(level.name, func(b *testing.B) {
					ours := func() { runner.Reconcile(b.Context(), of(w.primary)) }
					disturbed := func() { level.disturb(w.engine); ours() } // the disturbance allocates nothing
					theirs := func() {
						for i := range nodes {
							if err := kind.baseline(b.Context(), c, w.primary, fmt.Sprintf("node-%d", i)); err != nil {
								b.Fatal(err)
							}
						}
					}
					mark := w.requests.Mark()
					var spent, baseline time.Duration
					for b.Loop() {
						level.disturb(w.engine)
						spent += took(ours)
						baseline += took(theirs)
					}
					b.ReportMetric(0, "ns/op")
					b.ReportMetric(float64(spent.Nanoseconds())/float64(b.N)/nodes, "ns/node")
					b.ReportMetric(testing.AllocsPerRun(10, disturbed)/nodes, "allocs/node")
					b.ReportMetric(float64(baseline.Nanoseconds())/float64(b.N)/nodes, "baseline-ns/node")
					b.ReportMetric(testing.AllocsPerRun(10, theirs)/nodes, "baseline-allocs/node")
					if sent := w.requests.Since(mark).Foreground(); len(sent) > 0 {
						b.Fatalf("sent %s", sent)
					}
				})
			}
		})
	}
}

// settle makes everything and waits until nothing is left to do, with or without records.
func settle(b *testing.B, w *world, runner *workflow.Runner[*v1.WebApp]) {
	b.Helper()
	w.waits(b, func(ctx context.Context) bool {
		dependent.Restart(w.engine)
		var result *workflow.Result
		sent := w.sends(func() { result = runner.Reconcile(ctx, of(w.primary)) })
		return len(sent) == 0 && result.Err() == nil && dependent.Unseen(w.engine) == 0
	}, "it doesn't come to rest")
}

func took(work func()) time.Duration {
	began := time.Now()
	work()
	return time.Since(began)
}

func benchConfigMap(name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Data:       map[string]string{"CURRENCY": "EUR", "LEVEL": "info", "EMPTY": "", "config.yaml": "a: b\nc: d\n"},
	}
}

func benchService(name string) *corev1.Service {
	return &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.ServiceSpec{
			Selector: map[string]string{"app": name},
			Ports:    []corev1.ServicePort{{Name: "http", Port: 80, TargetPort: intstr.FromString("http")}, {Name: "https", Port: 443}},
		},
	}
}

func deploymentConfiguration(name string) *appsac.DeploymentApplyConfiguration {
	labels := map[string]string{"app": name}
	d := deployment(name)
	container := d.Spec.Template.Spec.Containers[0]
	return appsac.Deployment(name, "").WithSpec(appsac.DeploymentSpec().
		WithReplicas(2).
		WithSelector(metaac.LabelSelector().WithMatchLabels(labels)).
		WithTemplate(coreac.PodTemplateSpec().WithLabels(labels).WithSpec(coreac.PodSpec().WithContainers(coreac.Container().
			WithName(container.Name).
			WithImage(container.Image).
			WithPorts(coreac.ContainerPort().WithName("http").WithContainerPort(8080)).
			WithEnv(coreac.EnvVar().WithName("LEVEL").WithValue("info"), coreac.EnvVar().WithName("EMPTY").WithValue("")).
			WithResources(coreac.ResourceRequirements().WithRequests(container.Resources.Requests))))))
}

// The baseline is what controllers do by hand: they set what they want field by field, so that defaults stay.

func updateConfigMap(ctx context.Context, c client.Client, app *v1.WebApp, name string) error {
	obj, want := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: app.Namespace}}, benchConfigMap(name)
	_, err := controllerutil.CreateOrUpdate(ctx, c, obj, func() error {
		obj.Data = want.Data
		return controllerutil.SetControllerReference(app, obj, c.Scheme())
	})
	return err
}

func updateService(ctx context.Context, c client.Client, app *v1.WebApp, name string) error {
	obj, want := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: app.Namespace}}, benchService(name)
	_, err := controllerutil.CreateOrUpdate(ctx, c, obj, func() error {
		obj.Spec.Selector = want.Spec.Selector
		for i := range want.Spec.Ports {
			have, want := &obj.Spec.Ports[i], &want.Spec.Ports[i]
			have.Name, have.Port = want.Name, want.Port
			if want.TargetPort != (intstr.IntOrString{}) {
				have.TargetPort = want.TargetPort
			}
		}
		return controllerutil.SetControllerReference(app, obj, c.Scheme())
	})
	return err
}

func updateDeployment(ctx context.Context, c client.Client, app *v1.WebApp, name string) error {
	obj, want := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: app.Namespace}}, deployment(name)
	_, err := controllerutil.CreateOrUpdate(ctx, c, obj, func() error {
		obj.Spec.Replicas, obj.Spec.Selector = want.Spec.Replicas, want.Spec.Selector
		obj.Spec.Template.Labels = want.Spec.Template.Labels
		have, want := &obj.Spec.Template.Spec.Containers[0], &want.Spec.Template.Spec.Containers[0]
		have.Name, have.Image, have.Env, have.Resources = want.Name, want.Image, want.Env, want.Resources
		have.Ports[0].Name, have.Ports[0].ContainerPort = want.Ports[0].Name, want.Ports[0].ContainerPort
		return controllerutil.SetControllerReference(app, obj, c.Scheme())
	})
	return err
}

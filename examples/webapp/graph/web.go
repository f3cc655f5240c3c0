// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	autoscalingac "k8s.io/client-go/applyconfigurations/autoscaling/v2"
	coreac "k8s.io/client-go/applyconfigurations/core/v1"
	networkingac "k8s.io/client-go/applyconfigurations/networking/v1"

	"github.com/espalier-dev/espalier/dependent"
	v1 "github.com/espalier-dev/espalier/examples/webapp/api/v1"
)

func webDeployment(app *v1.WebApp, config, secret, database string) *appsv1.Deployment {
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: dependent.Name(app), Namespace: app.Namespace},
		Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labelsOf(app, "web")},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labelsOf(app, "web")},
				Spec: corev1.PodSpec{Containers: []corev1.Container{{
					Name:  "web",
					Image: app.Spec.Image,
					Ports: []corev1.ContainerPort{{Name: "http", ContainerPort: app.Spec.Port}},
					Env:   []corev1.EnvVar{{Name: "DATABASE_HOST", Value: database}, passwordFrom(secret)},
					EnvFrom: []corev1.EnvFromSource{{ConfigMapRef: &corev1.ConfigMapEnvSource{
						LocalObjectReference: corev1.LocalObjectReference{Name: config},
					}}},
					Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
						corev1.ResourceCPU: resource.MustParse("100m"), corev1.ResourceMemory: resource.MustParse("128Mi"),
					}},
				}}},
			},
		},
	}
}

// replicas are the user's, or the autoscaler's once it has set them: what isn't set isn't owned. Until then they are
// kept as they are, since what we owned and no longer set would fall back to its default.
func replicas(app *v1.WebApp, now *appsv1.Deployment) *int32 {
	switch {
	case app.Spec.Autoscale == nil:
		return app.Spec.Replicas
	case now == nil:
		return &app.Spec.Autoscale.MinReplicas
	case slices.ContainsFunc(now.ManagedFields, scaled):
		return nil
	default:
		return now.Spec.Replicas
	}
}

func scaled(m metav1.ManagedFieldsEntry) bool { return m.Subresource == "scale" }

func webService(r run) (*coreac.ServiceApplyConfiguration, error) {
	app := r.Primary()
	return coreac.Service(dependent.Name(app), app.Namespace).
		WithSpec(coreac.ServiceSpec().
			WithSelector(labelsOf(app, "web")).
			WithPorts(coreac.ServicePort().WithName("http").WithPort(80).WithTargetPort(intstr.FromString("http")))), nil
}

func ingressTo(
	service *dependent.Object[*v1.WebApp, *corev1.Service],
) func(run) (*networkingac.IngressApplyConfiguration, error) {
	return func(r run) (*networkingac.IngressApplyConfiguration, error) {
		app := r.Primary()
		backend := networkingac.IngressBackend().WithService(networkingac.IngressServiceBackend().
			WithName(service.Get(r).Name).
			WithPort(networkingac.ServiceBackendPort().WithName("http")))
		return networkingac.Ingress(dependent.Name(app), app.Namespace).
			WithSpec(networkingac.IngressSpec().WithRules(networkingac.IngressRule().
				WithHost(host(app)).
				WithHTTP(networkingac.HTTPIngressRuleValue().WithPaths(networkingac.HTTPIngressPath().
					WithPath("/").
					WithPathType(networkingv1.PathTypePrefix).
					WithBackend(backend))))), nil
	}
}

func autoscalerOf(
	web *dependent.Object[*v1.WebApp, *appsv1.Deployment],
) func(run) (*autoscalingac.HorizontalPodAutoscalerApplyConfiguration, error) {
	return func(r run) (*autoscalingac.HorizontalPodAutoscalerApplyConfiguration, error) {
		app, scale := r.Primary(), r.Primary().Spec.Autoscale
		cpu := autoscalingac.ResourceMetricSource().
			WithName(corev1.ResourceCPU).
			WithTarget(autoscalingac.MetricTarget().
				WithType(autoscalingv2.UtilizationMetricType).
				WithAverageUtilization(scale.CPUPercent))
		return autoscalingac.HorizontalPodAutoscaler(dependent.Name(app), app.Namespace).
			WithSpec(autoscalingac.HorizontalPodAutoscalerSpec().
				WithScaleTargetRef(autoscalingac.CrossVersionObjectReference().
					WithAPIVersion("apps/v1").WithKind("Deployment").WithName(web.Get(r).Name)).
				WithMinReplicas(scale.MinReplicas).
				WithMaxReplicas(scale.MaxReplicas).
				WithMetrics(autoscalingac.MetricSpec().
					WithType(autoscalingv2.ResourceMetricSourceType).
					WithResource(cpu))), nil
	}
}

func host(app *v1.WebApp) string {
	if app.Spec.Host != "" {
		return app.Spec.Host
	}
	return dependent.Name(app) + "." + app.Namespace + ".example.com"
}

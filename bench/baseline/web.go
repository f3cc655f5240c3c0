// SPDX-License-Identifier: Apache-2.0

package baseline

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/espalier-dev/espalier/examples/webapp/api/v1"
)

func (r *Reconciler) ensureWeb(ctx context.Context, app *v1.WebApp) error {
	obj := &appsv1.Deployment{ObjectMeta: meta(app, "")}
	return r.ensure(ctx, app, obj, func() {
		isNew := obj.CreationTimestamp.IsZero()
		switch {
		case app.Spec.Autoscale == nil:
			obj.Spec.Replicas = app.Spec.Replicas
		case isNew:
			obj.Spec.Replicas = &app.Spec.Autoscale.MinReplicas
		}
		if isNew {
			obj.Spec.Selector = &metav1.LabelSelector{MatchLabels: labelsOf(app, "web")}
		}
		obj.Spec.Template.Labels = labelsOf(app, "web")
		c := onlyContainer(&obj.Spec.Template.Spec)
		c.Name, c.Image = "web", app.Spec.Image
		if len(c.Ports) != 1 {
			c.Ports = make([]corev1.ContainerPort, 1)
		}
		c.Ports[0].Name, c.Ports[0].ContainerPort = "http", app.Spec.Port
		setDatabase(c, app)
		c.EnvFrom = []corev1.EnvFromSource{{ConfigMapRef: &corev1.ConfigMapEnvSource{
			LocalObjectReference: corev1.LocalObjectReference{Name: app.Name + "-config"},
		}}}
		c.Resources.Requests = corev1.ResourceList{
			corev1.ResourceCPU: resource.MustParse("100m"), corev1.ResourceMemory: resource.MustParse("128Mi"),
		}
	})
}

func (r *Reconciler) webReady(ctx context.Context, app *v1.WebApp) (bool, error) {
	obj := &appsv1.Deployment{ObjectMeta: meta(app, "")}
	if err := r.Get(ctx, client.ObjectKeyFromObject(obj), obj); err != nil {
		return false, client.IgnoreNotFound(err)
	}
	return obj.Status.ObservedGeneration == obj.Generation && obj.Spec.Replicas != nil &&
		obj.Status.AvailableReplicas >= *obj.Spec.Replicas, nil
}

func (r *Reconciler) ensureService(ctx context.Context, app *v1.WebApp) error {
	obj := &corev1.Service{ObjectMeta: meta(app, "")}
	return r.ensure(ctx, app, obj, func() {
		obj.Spec.Selector = labelsOf(app, "web")
		if len(obj.Spec.Ports) != 1 {
			obj.Spec.Ports = make([]corev1.ServicePort, 1)
		}
		port := &obj.Spec.Ports[0]
		port.Name, port.Port, port.TargetPort = "http", 80, intstr.FromString("http")
	})
}

func hostOf(app *v1.WebApp) string {
	if app.Spec.Host != "" {
		return app.Spec.Host
	}
	return app.Name + "." + app.Namespace + ".example.com"
}

func (r *Reconciler) ensureIngress(ctx context.Context, app *v1.WebApp) error {
	obj := &networkingv1.Ingress{ObjectMeta: meta(app, "")}
	if !app.Spec.Expose {
		return r.remove(ctx, obj)
	}
	return r.ensure(ctx, app, obj, func() {
		obj.Spec.Rules = []networkingv1.IngressRule{{
			Host: hostOf(app),
			IngressRuleValue: networkingv1.IngressRuleValue{HTTP: &networkingv1.HTTPIngressRuleValue{
				Paths: []networkingv1.HTTPIngressPath{{
					Path: "/", PathType: new(networkingv1.PathTypePrefix),
					Backend: networkingv1.IngressBackend{Service: &networkingv1.IngressServiceBackend{
						Name: app.Name, Port: networkingv1.ServiceBackendPort{Name: "http"},
					}},
				}},
			}},
		}}
	})
}

func (r *Reconciler) ensureAutoscaler(ctx context.Context, app *v1.WebApp) error {
	obj := &autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: meta(app, "")}
	if app.Spec.Autoscale == nil {
		return r.remove(ctx, obj)
	}
	return r.ensure(ctx, app, obj, func() {
		obj.Spec.ScaleTargetRef = autoscalingv2.CrossVersionObjectReference{
			APIVersion: "apps/v1", Kind: "Deployment", Name: app.Name,
		}
		obj.Spec.MinReplicas = &app.Spec.Autoscale.MinReplicas
		obj.Spec.MaxReplicas = app.Spec.Autoscale.MaxReplicas
		obj.Spec.Metrics = []autoscalingv2.MetricSpec{{
			Type: autoscalingv2.ResourceMetricSourceType,
			Resource: &autoscalingv2.ResourceMetricSource{Name: corev1.ResourceCPU, Target: autoscalingv2.MetricTarget{
				Type: autoscalingv2.UtilizationMetricType, AverageUtilization: &app.Spec.Autoscale.CPUPercent,
			}},
		}}
	})
}

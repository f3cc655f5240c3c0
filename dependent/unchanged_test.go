// SPDX-License-Identifier: Apache-2.0

package dependent_test

import (
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
)

// Whatever the kind: one write for each change, none at rest, and a restart changes nothing.
func TestOneWritePerChange(t *testing.T) { // R30 R31 R32 E1 E2 E3 E7 E9 E12 E15 E16 E18 E19 E20 E21 F1 F6 F16 X11 X14
	stories := []struct {
		name string
		tell func(*testing.T, string)
	}{
		{"deployment", tell[appsv1.Deployment]},
		{"deployment-defaults", tell[appsv1.Deployment]},
		{"deployment-order", tell[appsv1.Deployment]},
		{"deployment-twice", tell[appsv1.Deployment]},
		{"statefulset", tell[appsv1.StatefulSet]},
		{"daemonset", tell[appsv1.DaemonSet]},
		{"job", tell[batchv1.Job]},
		{"cronjob", tell[batchv1.CronJob]},
		{"pod", tell[corev1.Pod]},
		{"service", tell[corev1.Service]},
		{"service-dns", tell[corev1.Service]},
		{"ingress", tell[networkingv1.Ingress]},
		{"networkpolicy", tell[networkingv1.NetworkPolicy]},
		{"horizontalpodautoscaler", tell[autoscalingv2.HorizontalPodAutoscaler]},
		{"poddisruptionbudget", tell[policyv1.PodDisruptionBudget]},
		{"configmap", tell[corev1.ConfigMap]},
		{"secret", tell[corev1.Secret]},
		{"secret-text", tell[corev1.Secret]},
		{"serviceaccount", tell[corev1.ServiceAccount]},
		{"role", tell[rbacv1.Role]},
		{"rolebinding", tell[rbacv1.RoleBinding]},
		{"rolebinding-defaults", tell[rbacv1.RoleBinding]},
		{"clusterrole", tell[rbacv1.ClusterRole]},
		{"persistentvolumeclaim", tell[corev1.PersistentVolumeClaim]},
		{"namespace", tell[corev1.Namespace]},
		{"resourcequota", tell[corev1.ResourceQuota]},
		{"limitrange", tell[corev1.LimitRange]},
		{"priorityclass", tell[schedulingv1.PriorityClass]},
		{"lease", tell[coordinationv1.Lease]},
		{"validatingwebhookconfiguration", tell[admissionregistrationv1.ValidatingWebhookConfiguration]},
		{"gadget", tell[Gadget]},
	}
	for _, story := range stories {
		t.Run(story.name, func(t *testing.T) { story.tell(t, story.name) })
	}
}

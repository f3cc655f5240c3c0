// SPDX-License-Identifier: Apache-2.0

package graph

import (
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coreac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/espalier-dev/espalier/dependent"
	v1 "github.com/espalier-dev/espalier/examples/webapp/api/v1"
)

const databasePort = 5432

func databaseService(r run) (*coreac.ServiceApplyConfiguration, error) {
	app := r.Primary()
	return coreac.Service(dependent.Name(app, "db"), app.Namespace).
		WithSpec(coreac.ServiceSpec().
			WithClusterIP(corev1.ClusterIPNone).
			WithSelector(labelsOf(app, "database")).
			WithPorts(coreac.ServicePort().WithName("postgres").WithPort(databasePort))), nil
}

func databaseSet(app *v1.WebApp, secret, service string) *appsv1.StatefulSet {
	return &appsv1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Name: dependent.Name(app, "db"), Namespace: app.Namespace},
		Spec: appsv1.StatefulSetSpec{
			Replicas:    new(int32(1)),
			ServiceName: service,
			Selector:    &metav1.LabelSelector{MatchLabels: labelsOf(app, "database")},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labelsOf(app, "database")},
				Spec: corev1.PodSpec{Containers: []corev1.Container{{
					Name:         "postgres",
					Image:        "registry.example.com/postgres:17",
					Env:          []corev1.EnvVar{passwordFrom(secret)},
					Ports:        []corev1.ContainerPort{{Name: "postgres", ContainerPort: databasePort}},
					VolumeMounts: []corev1.VolumeMount{{Name: "data", MountPath: "/var/lib/postgresql"}},
				}}},
			},
			VolumeClaimTemplates: []corev1.PersistentVolumeClaim{{
				ObjectMeta: metav1.ObjectMeta{Name: "data"},
				Spec: corev1.PersistentVolumeClaimSpec{
					AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
					Resources: corev1.VolumeResourceRequirements{
						Requests: corev1.ResourceList{corev1.ResourceStorage: app.Spec.Database.Storage},
					},
				},
			}},
		},
	}
}

// migrationJob has a name for each image and schema version: a job's template can't be changed, and need not be.
func migrationJob(app *v1.WebApp, secret, host string) *batchv1.Job {
	return &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{
			Name:      dependent.Name(app, "migrate", app.Spec.SchemaVersion, app.Spec.Image),
			Namespace: app.Namespace,
		},
		Spec: batchv1.JobSpec{
			BackoffLimit: new(int32(3)),
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labelsOf(app, "migration")},
				Spec: corev1.PodSpec{
					RestartPolicy: corev1.RestartPolicyNever,
					Containers: []corev1.Container{{
						Name:  "migrate",
						Image: app.Spec.Image,
						Args:  []string{"migrate", "--to", app.Spec.SchemaVersion},
						Env:   []corev1.EnvVar{{Name: "DATABASE_HOST", Value: host}, passwordFrom(secret)},
					}},
				},
			},
		},
	}
}

func passwordFrom(secret string) corev1.EnvVar {
	key := &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: secret}, Key: "password"}
	return corev1.EnvVar{Name: "DATABASE_PASSWORD", ValueFrom: &corev1.EnvVarSource{SecretKeyRef: key}}
}

func labelsOf(app *v1.WebApp, component string) map[string]string {
	return map[string]string{"app.kubernetes.io/instance": dependent.Name(app), "app.kubernetes.io/component": component}
}

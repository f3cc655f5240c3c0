// SPDX-License-Identifier: Apache-2.0

package baseline

import (
	"context"
	"crypto/rand"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/espalier-dev/espalier/examples/webapp/api/v1"
)

func meta(app *v1.WebApp, suffix string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: app.Name + suffix, Namespace: app.Namespace}
}

func labelsOf(app *v1.WebApp, component string) map[string]string {
	return map[string]string{"app.kubernetes.io/instance": app.Name, "app.kubernetes.io/component": component}
}

func (r *Reconciler) ensureConfig(ctx context.Context, app *v1.WebApp) error {
	obj := &corev1.ConfigMap{ObjectMeta: meta(app, "-config")}
	return r.ensure(ctx, app, obj, func() { obj.Data = app.Spec.Settings })
}

func (r *Reconciler) ensureCredentials(ctx context.Context, app *v1.WebApp) error {
	obj := &corev1.Secret{ObjectMeta: meta(app, "-credentials")}
	return r.ensure(ctx, app, obj, func() {
		if len(obj.Data["password"]) == 0 {
			obj.Data = map[string][]byte{"password": []byte(rand.Text())}
		}
	})
}

func (r *Reconciler) ensureDirectory(ctx context.Context, app *v1.WebApp) error {
	obj := &corev1.Service{ObjectMeta: meta(app, "-db")}
	return r.ensure(ctx, app, obj, func() {
		obj.Spec.ClusterIP = corev1.ClusterIPNone
		obj.Spec.Selector = labelsOf(app, "database")
		if len(obj.Spec.Ports) != 1 {
			obj.Spec.Ports = make([]corev1.ServicePort, 1)
		}
		obj.Spec.Ports[0].Name, obj.Spec.Ports[0].Port = "postgres", 5432
	})
}

// ensureDatabase sets what can't be changed, and what the server defaults inside, only once.
func (r *Reconciler) ensureDatabase(ctx context.Context, app *v1.WebApp) error {
	obj := &appsv1.StatefulSet{ObjectMeta: meta(app, "-db")}
	return r.ensure(ctx, app, obj, func() {
		obj.Spec.Replicas = new(int32(1))
		obj.Spec.Template.Labels = labelsOf(app, "database")
		if obj.CreationTimestamp.IsZero() {
			obj.Spec.ServiceName = app.Name + "-db"
			obj.Spec.Selector = &metav1.LabelSelector{MatchLabels: labelsOf(app, "database")}
			obj.Spec.VolumeClaimTemplates = []corev1.PersistentVolumeClaim{{
				ObjectMeta: metav1.ObjectMeta{Name: "data"},
				Spec: corev1.PersistentVolumeClaimSpec{
					AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
					Resources: corev1.VolumeResourceRequirements{
						Requests: corev1.ResourceList{corev1.ResourceStorage: app.Spec.Database.Storage},
					},
				},
			}}
		}
		c := onlyContainer(&obj.Spec.Template.Spec)
		c.Name, c.Image = "postgres", "registry.example.com/postgres:17"
		setPassword(c, app)
		if len(c.Ports) != 1 {
			c.Ports = make([]corev1.ContainerPort, 1)
		}
		c.Ports[0].Name, c.Ports[0].ContainerPort = "postgres", 5432
		c.VolumeMounts = []corev1.VolumeMount{{Name: "data", MountPath: "/var/lib/postgresql"}}
	})
}

func (r *Reconciler) databaseReady(ctx context.Context, app *v1.WebApp) (bool, error) {
	obj := &appsv1.StatefulSet{ObjectMeta: meta(app, "-db")}
	if err := r.Get(ctx, client.ObjectKeyFromObject(obj), obj); err != nil {
		return false, client.IgnoreNotFound(err)
	}
	return obj.Status.ObservedGeneration == obj.Generation && obj.Status.ReadyReplicas == 1, nil
}

func migrationName(app *v1.WebApp) string { return fmt.Sprintf("-migrate-%s", app.Spec.SchemaVersion) }

func (r *Reconciler) ensureMigration(ctx context.Context, app *v1.WebApp) error {
	obj := &batchv1.Job{ObjectMeta: meta(app, migrationName(app))}
	return r.ensure(ctx, app, obj, func() {
		if !obj.CreationTimestamp.IsZero() {
			return // nothing of it can be changed
		}
		obj.Spec.BackoffLimit = new(int32(3))
		obj.Spec.Template.Labels = labelsOf(app, "migration")
		obj.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyNever
		c := onlyContainer(&obj.Spec.Template.Spec)
		c.Name, c.Image, c.Args = "migrate", app.Spec.Image, []string{"migrate", "--to", app.Spec.SchemaVersion}
		setDatabase(c, app)
	})
}

func (r *Reconciler) migrated(ctx context.Context, app *v1.WebApp) (bool, error) {
	obj := &batchv1.Job{ObjectMeta: meta(app, migrationName(app))}
	if err := r.Get(ctx, client.ObjectKeyFromObject(obj), obj); err != nil {
		return false, client.IgnoreNotFound(err)
	}
	return obj.Status.Succeeded > 0, nil
}

func onlyContainer(pod *corev1.PodSpec) *corev1.Container {
	if len(pod.Containers) != 1 {
		pod.Containers = make([]corev1.Container, 1)
	}
	return &pod.Containers[0]
}

func setPassword(c *corev1.Container, app *v1.WebApp) {
	c.Env = []corev1.EnvVar{{Name: "DATABASE_PASSWORD", ValueFrom: &corev1.EnvVarSource{
		SecretKeyRef: &corev1.SecretKeySelector{
			LocalObjectReference: corev1.LocalObjectReference{Name: app.Name + "-credentials"}, Key: "password",
		},
	}}}
}

func setDatabase(c *corev1.Container, app *v1.WebApp) {
	setPassword(c, app)
	c.Env = append([]corev1.EnvVar{{Name: "DATABASE_HOST", Value: app.Name + "-db"}}, c.Env...)
}

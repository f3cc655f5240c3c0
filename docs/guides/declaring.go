// SPDX-License-Identifier: Apache-2.0

package guides

import (
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	coreac "k8s.io/client-go/applyconfigurations/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/espalier-dev/espalier/dependent"
	v1 "github.com/espalier-dev/espalier/examples/webapp/api/v1"
	"github.com/espalier-dev/espalier/workflow"
)

// Declaring builds the graph of the guide.
func Declaring() (*workflow.Workflow[*v1.WebApp], error) {
	b := workflow.NewBuilder[*v1.WebApp]("webapp")

	config := dependent.Apply[corev1.ConfigMap](b, "config",
		func(r run) (*coreac.ConfigMapApplyConfiguration, error) {
			app := r.Primary()
			return coreac.ConfigMap(dependent.Name(app, "config"), app.Namespace).WithData(app.Spec.Settings), nil
		})

	web := dependent.Typed(b, "web", func(r run) (*appsv1.Deployment, error) {
		return webDeployment(r.Primary(), config.Get(r).Name), nil
	}).DependsOn(config)

	password := dependent.Generate[corev1.Secret](b, "credentials",
		map[string]dependent.Generator{"password": dependent.RandomText(24)})

	migration := dependent.Task(b, "migration", func(r run) (*batchv1.Job, error) {
		return migrationJob(r.Primary()), nil
	}).By(func(r run) (any, error) { return r.Primary().Spec.SchemaVersion, nil })

	regions := dependent.ForEach[corev1.ConfigMap](b, "regions",
		func(r run) ([]string, error) { return []string{"north", "south"}, nil },
		func(r run, region string) (*coreac.ConfigMapApplyConfiguration, error) {
			return coreac.ConfigMap(dependent.Name(r.Primary(), region), r.Primary().Namespace).
				WithData(map[string]string{"region": region}), nil
		})

	certificate := dependent.Unstructured(b,
		schema.GroupVersionKind{Group: "cert-manager.io", Version: "v1", Kind: "Certificate"}, "certificate",
		func(r run) (*unstructured.Unstructured, error) {
			return &unstructured.Unstructured{Object: map[string]any{
				"metadata": map[string]any{"name": r.Primary().Name},
				"spec":     map[string]any{"secretName": r.Primary().Name + "-tls"},
			}}, nil
		}).WhenServed()

	issuer := dependent.Reference[corev1.Secret](b, "issuer",
		func(r run) (client.ObjectKey, error) { return client.ObjectKey{Name: "issuer"}, nil })

	certificate.DependsOn(issuer)
	web.DependsOn(password, migration, workflow.Optional(certificate), regions)
	return b.Build()
}

func webDeployment(app *v1.WebApp, config string) *appsv1.Deployment {
	labels := map[string]string{"app": app.Name}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: dependent.Name(app)},
		Spec: appsv1.DeploymentSpec{
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

func migrationJob(app *v1.WebApp) *batchv1.Job {
	return &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: dependent.Name(app, "migrate")},
		Spec: batchv1.JobSpec{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
			RestartPolicy: corev1.RestartPolicyNever,
			Containers: []corev1.Container{{
				Name: "migrate", Image: app.Spec.Image, Args: []string{"migrate", "--to", app.Spec.SchemaVersion},
			}},
		}}},
	}
}

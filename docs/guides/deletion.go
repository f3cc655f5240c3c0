// SPDX-License-Identifier: Apache-2.0

package guides

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/espalier-dev/espalier/dependent"
	v1 "github.com/espalier-dev/espalier/examples/webapp/api/v1"
	"github.com/espalier-dev/espalier/reconciler"
	"github.com/espalier-dev/espalier/workflow"
)

// Deletion builds the graph of the guide.
func Deletion() (*reconciler.Reconciler[*v1.WebApp], error) {
	b := workflow.NewBuilder[*v1.WebApp]("webapp")

	data := dependent.Typed(b, "data", volumeClaim).
		ReconcileWhen("database", func(r run) workflow.Verdict {
			return workflow.If(r.Primary().Spec.Expose, "NotExposed", "spec.expose is false")
		}).
		WhenPrimaryDeleted(dependent.Orphan)

	dependent.Typed(b, "report", settings("report")).
		WhenUnwanted(dependent.Protect).
		DependsOn(data)

	dependent.Typed(b, "shared", settings("shared")).
		Adopt(dependent.IfUnowned)

	dependent.Typed(b, "routes", settings("routes")).
		Recreate(dependent.ContentNamed)

	dependent.Retired[corev1.ConfigMap](b, "legacy-settings")

	graph, err := b.Build()
	if err != nil {
		return nil, err
	}
	return reconciler.New(graph, reconciler.Options[*v1.WebApp]{OrderedDeletion: true}), nil
}

func volumeClaim(r run) (*corev1.PersistentVolumeClaim, error) {
	return &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: dependent.Name(r.Primary(), "data")},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
		},
	}, nil
}

func settings(name string) func(r run) (*corev1.ConfigMap, error) {
	return func(r run) (*corev1.ConfigMap, error) {
		return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: dependent.Name(r.Primary(), name)}}, nil
	}
}

// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/espalier-dev/espalier/examples/webapp/api/v1"
	"github.com/espalier-dev/espalier/workflow"
)

func TestWorkflow(t *testing.T) {
	w, err := Workflow()
	if err != nil {
		t.Fatal(err)
	}
	want := `webapp
├─ config
├─ credentials
│  └─ database ← database-service
│     └─ migration
│        └─ web ← config, database
│           ├─ service
│           │  └─ ingress ← web
│           └─ autoscaler
└─ database-service
`
	if diff := cmp.Diff(want, w.Picture().Tree(workflow.TreeOptions{})); diff != "" {
		t.Errorf("the graph (-want +got):\n%s", diff)
	}
}

func TestReplicas(t *testing.T) {
	fixed := &v1.WebApp{Spec: v1.WebAppSpec{Replicas: new(int32(3))}}
	scaled := &v1.WebApp{Spec: v1.WebAppSpec{Replicas: new(int32(3)), Autoscale: &v1.AutoscaleSpec{MinReplicas: 2}}}
	four := &appsv1.Deployment{Spec: appsv1.DeploymentSpec{Replicas: new(int32(4))}}
	taken := four.DeepCopy()
	taken.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "kube-controller-manager", Subresource: "scale"}}
	for name, c := range map[string]struct {
		app  *v1.WebApp
		now  *appsv1.Deployment
		want *int32
	}{
		"the user's":                           {fixed, four, new(int32(3))},
		"at least what is scaled to, at first": {scaled, nil, new(int32(2))},
		"as they are, until they are scaled":   {scaled, four, new(int32(4))},
		"the autoscaler's":                     {scaled, taken, nil},
	} {
		if diff := cmp.Diff(c.want, replicas(c.app, c.now)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/espalier-dev/espalier/envtest"
	v1 "github.com/espalier-dev/espalier/examples/webapp/api/v1"
)

const (
	configuration = "examples/webapp/config"
	namespace     = "default"
	operatorUser  = "webapp-operator"
)

// cluster is the control plane, and a client that may do everything and isn't counted.
type cluster struct {
	env    *envtest.Environment
	scheme *runtime.Scheme
	client client.Client
}

// startCluster starts a control plane that knows WebApps, has room for their databases, and grants the operator its
// role.
func startCluster(ctx context.Context) (*cluster, error) {
	if _, err := os.Stat(configuration); err != nil {
		return nil, fmt.Errorf("finding the example's configuration: %w: run the demo from the root of the repository", err)
	}
	env, err := envtest.Start(ctx, envtest.Options{Controllers: true, CRDPaths: []string{configuration + "/crd"}})
	if err != nil {
		return nil, err
	}
	c := &cluster{env: env, scheme: runtime.NewScheme()}
	if err := c.prepare(ctx); err != nil {
		_ = env.Stop() // the first error counts
		return nil, fmt.Errorf("preparing the control plane: %w", err)
	}
	return c, nil
}

func (c *cluster) prepare(ctx context.Context) error {
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1.AddToScheme} {
		if err := add(c.scheme); err != nil {
			return err
		}
	}
	var err error
	if c.client, err = client.New(c.env.Config(), client.Options{Scheme: c.scheme}); err != nil {
		return err
	}
	role := &rbacv1.ClusterRole{}
	if err := load("rbac/role.yaml", role); err != nil {
		return err
	}
	objects := []client.Object{role, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: operatorUser},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "User", Name: operatorUser}},
	}}
	for i := range 2 {
		objects = append(objects, volume(i))
	}
	for _, obj := range objects {
		if err := c.client.Create(ctx, obj); err != nil {
			return err
		}
	}
	return nil
}

// volume is a simulated disk: the real controllers bind the databases' claims to it.
func volume(i int) *corev1.PersistentVolume {
	return &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("disk-%d", i)},
		Spec: corev1.PersistentVolumeSpec{
			AccessModes:            []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Capacity:               corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("10Gi")},
			PersistentVolumeSource: corev1.PersistentVolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/simulated"}},
		},
	}
}

// load reads the first object of a file of the example's configuration.
func load(file string, into client.Object) error {
	text, err := os.ReadFile(configuration + "/" + file)
	if err != nil {
		return err
	}
	return yaml.Unmarshal(text, into)
}

func (c *cluster) stop() error { return c.env.Stop() }

// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io/fs"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/espalier-dev/espalier/envtest"
	v1 "github.com/espalier-dev/espalier/examples/webapp/api/v1"
	"github.com/espalier-dev/espalier/examples/webapp/config"
)

const (
	namespace    = "default"
	operatorUser = "webapp-operator"
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
	definition := &apiextensionsv1.CustomResourceDefinition{}
	if err := load("crd/webapp.example.espalier.dev_webapps.yaml", definition); err != nil {
		return nil, err
	}
	env, err := envtest.Start(ctx, envtest.Options{
		Controllers: true, CRDs: []*apiextensionsv1.CustomResourceDefinition{definition},
	})
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
		objects = append(objects, disk(i))
	}
	for _, obj := range objects {
		if err := c.client.Create(ctx, obj); err != nil {
			return err
		}
	}
	// In the first two seconds of a definition the server delays creations. They aren't the operator's to answer for.
	app, err := sample(shop)
	if err != nil {
		return err
	}
	return c.client.Create(ctx, app, client.DryRunAll)
}

// sample reads one of the operator's samples.
func sample(name string) (*v1.WebApp, error) {
	app := &v1.WebApp{}
	err := load("samples/"+name+".yaml", app)
	app.Namespace = namespace
	return app, err
}

// disk is a simulated one: the real controllers bind the databases' claims to it.
func disk(i int) *corev1.PersistentVolume {
	return &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("disk-%d", i)},
		Spec: corev1.PersistentVolumeSpec{
			AccessModes:            []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Capacity:               corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("10Gi")},
			PersistentVolumeSource: corev1.PersistentVolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/simulated"}},
		},
	}
}

// load reads the first object of a file of the operator's configuration.
func load(file string, into client.Object) error {
	text, err := fs.ReadFile(config.Files(), file)
	if err != nil {
		return err
	}
	if err := yaml.Unmarshal(text, into); err != nil {
		return fmt.Errorf("reading %s: %w", file, err)
	}
	return nil
}

func (c *cluster) stop() error { return c.env.Stop() }

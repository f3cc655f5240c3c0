// SPDX-License-Identifier: Apache-2.0

package reconciler_test

import (
	"context"
	"fmt"
	"os"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/rand"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/yaml"

	"github.com/espalier-dev/espalier/dependent"
	"github.com/espalier-dev/espalier/envtest"
	v1 "github.com/espalier-dev/espalier/examples/webapp/api/v1"
	"github.com/espalier-dev/espalier/examples/webapp/graph"
	"github.com/espalier-dev/espalier/reconciler"
	"github.com/espalier-dev/espalier/workflow"
)

func newScheme() *runtime.Scheme {
	s := runtime.NewScheme()
	Expect(clientgoscheme.AddToScheme(s)).To(Succeed())
	Expect(v1.AddToScheme(s)).To(Succeed())
	return s
}

const operatorUser = "webapp-operator"

// grantRole gives the operator's user exactly the role of the example.
func grantRole(ctx context.Context) {
	text, err := os.ReadFile("../examples/webapp/config/rbac/role.yaml")
	Expect(err).NotTo(HaveOccurred())
	role := &rbacv1.ClusterRole{}
	Expect(yaml.Unmarshal(text, role)).To(Succeed())
	Expect(suite.client.Create(ctx, role)).To(Succeed())
	Expect(suite.client.Create(ctx, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: operatorUser},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "User", Name: operatorUser}},
	})).To(Succeed())
}

// operator is a running operator: the example's, or one of a small graph.
type operator struct {
	requests *envtest.Requests
	stop     func()
}

// startOperator runs the operator of the example under its own role until the spec ends.
func startOperator(options reconciler.Options[*v1.WebApp]) *operator {
	GinkgoHelper()
	user, err := suite.env.User(operatorUser)
	Expect(err).NotTo(HaveOccurred())
	w, err := graph.Workflow()
	Expect(err).NotTo(HaveOccurred())
	return runOperator(user, w, options)
}

// startSmall runs an operator of a small graph, which may do everything, until the spec ends.
func startSmall[P client.Object](options reconciler.Options[P], declare func(b *workflow.Builder[P])) *operator {
	GinkgoHelper()
	b := workflow.NewBuilder[P]("small")
	declare(b)
	w, err := b.Build()
	Expect(err).NotTo(HaveOccurred())
	return runOperator(suite.env.Config(), w, options)
}

// addConfigMap declares a node that manages a ConfigMap.
func addConfigMap[P client.Object](b *workflow.Builder[P], node string) *dependent.Object[P, *corev1.ConfigMap] {
	return dependent.Typed(b, node, func(r *workflow.Run[P]) (*corev1.ConfigMap, error) {
		return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: dependent.Name(r.Primary(), node)}}, nil
	})
}

// runOperator runs one until the spec ends, and waits for all of its caches.
func runOperator[P client.Object](cfg *rest.Config, w *workflow.Workflow[P], options reconciler.Options[P]) *operator {
	GinkgoHelper()
	o, mgr := runManager(cfg, w, options)
	Expect(mgr.GetCache().WaitForCacheSync(context.Background())).To(BeTrue())
	return o
}

func runManager[P client.Object](
	cfg *rest.Config, w *workflow.Workflow[P], options reconciler.Options[P],
) (*operator, ctrl.Manager) {
	GinkgoHelper()
	o := &operator{requests: &envtest.Requests{}}
	mgr, err := ctrl.NewManager(o.requests.Wrap(cfg), ctrl.Options{
		Scheme: newScheme(), Logger: GinkgoLogr,
		Metrics:    metricsserver.Options{BindAddress: "0"},
		Controller: config.Controller{SkipNameValidation: new(true)},
	})
	Expect(err).NotTo(HaveOccurred())
	Expect(reconciler.New(w, options).SetupWithManager(mgr)).To(Succeed())
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()
	stopped := false
	o.stop = func() {
		if !stopped {
			stopped = true
			cancel()
			Expect(<-ended).To(Succeed())
		}
	}
	DeferCleanup(func() { o.stop() })
	return o, mgr
}

// newNamespace makes a namespace for one spec, with room for the volumes of a few databases. What is left of WebApps in
// it goes at the end, so that no later operator finds it.
func newNamespace(ctx context.Context) string {
	GinkgoHelper()
	name := "spec-" + rand.String(6)
	Expect(suite.client.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})).To(Succeed())
	DeferCleanup(func(ctx context.Context) {
		apps := &v1.WebAppList{}
		Expect(suite.client.List(ctx, apps, client.InNamespace(name))).To(Succeed())
		for i := range apps.Items {
			app := &apps.Items[i]
			patch := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))
			Expect(client.IgnoreNotFound(suite.client.Patch(ctx, app, patch))).To(Succeed())
			Expect(client.IgnoreNotFound(suite.client.Delete(ctx, app))).To(Succeed())
		}
	})
	for i := range 2 {
		Expect(suite.client.Create(ctx, &corev1.PersistentVolume{
			ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("%s-%d", name, i)},
			Spec: corev1.PersistentVolumeSpec{
				AccessModes:            []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
				Capacity:               corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("10Gi")},
				PersistentVolumeSource: corev1.PersistentVolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/simulated"}},
			},
		})).To(Succeed())
	}
	return name
}

func newWebApp(namespace string) *v1.WebApp {
	return &v1.WebApp{
		ObjectMeta: metav1.ObjectMeta{Name: "shop", Namespace: namespace},
		Spec:       v1.WebAppSpec{Image: "registry.example.com/shop:1", Settings: map[string]string{"CURRENCY": "EUR"}},
	}
}

// get reads an object of the spec's namespace, for Eventually.
func get[T any, PT interface {
	*T
	client.Object
}](namespace, name string) func(Gomega, context.Context) PT {
	return func(g Gomega, ctx context.Context) PT {
		obj := PT(new(T))
		g.Expect(suite.client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, obj)).To(Succeed())
		return obj
	}
}

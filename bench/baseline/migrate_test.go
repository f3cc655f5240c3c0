// SPDX-License-Identifier: Apache-2.0

package baseline_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/go-logr/logr"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/espalier-dev/espalier/bench/baseline"
	"github.com/espalier-dev/espalier/envtest"
	v1 "github.com/espalier-dev/espalier/examples/webapp/api/v1"
	"github.com/espalier-dev/espalier/examples/webapp/graph"
	"github.com/espalier-dev/espalier/reconciler"
)

// TestMigrate replaces the operator that is written by hand by the graph, under load and with its objects in place.
// Nothing is made anew, nothing is lost, and nothing of the old one is left.
func TestMigrate(t *testing.T) { // R34 R46
	if testing.Short() {
		t.Skip("needs a control plane")
	}
	ctrl.SetLogger(logr.Discard())
	g := NewWithT(t)
	g.SetDefaultEventuallyTimeout(time.Minute)
	env, err := envtest.Start(t.Context(), envtest.Options{
		Controllers: true, CRDPaths: []string{"../../examples/webapp/config/crd"},
	})
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { g.Expect(env.Stop()).To(Succeed()) })
	users, err := client.New(env.Config(), client.Options{Scheme: newScheme(g)})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(users.Create(t.Context(), volume())).To(Succeed())
	app := newWebApp()
	g.Expect(users.Create(t.Context(), app)).To(Succeed())

	requests, stop := run(t, g, env, func(mgr ctrl.Manager) error { return baseline.SetupWithManager(mgr) })
	g.Eventually(condition(t, users, app, baseline.Condition)).Should(BeTrue())
	g.Expect(envtest.ExpectNoRequests(t.Context(), requests, time.Second)).To(Succeed(), "the old one is at rest")
	stop()
	before := objects(t, g, users)
	password := secret(t, g, users)

	requests, stop = run(t, g, env, func(mgr ctrl.Manager) error {
		w, err := graph.Workflow()
		if err != nil {
			return err
		}
		options := graph.Options()
		options.FormerManagers = []string{baseline.Manager}
		options.FormerFinalizers = []string{baseline.Finalizer}
		options.FormerConditions = []string{baseline.Condition}
		return reconciler.New(w, options).SetupWithManager(mgr)
	})
	g.Eventually(condition(t, users, app, "Ready")).Should(BeTrue())
	after := objects(t, g, users)
	for name, uid := range before {
		g.Expect(after).To(HaveKeyWithValue(name, uid), "nothing is made anew")
	}
	g.Expect(after).To(HaveLen(len(before)+1), "but for the migration, which has another name now")
	g.Expect(secret(t, g, users)).To(Equal(password), "nothing is lost")
	g.Expect(app.Finalizers).To(Equal([]string{"espalier.dev/webapp"}))
	g.Expect(meta.FindStatusCondition(app.Status.Conditions, baseline.Condition)).To(BeNil())
	g.Expect(envtest.ExpectNoRequests(t.Context(), requests, time.Second)).To(Succeed(), "the new one is at rest")

	app.Spec.Settings, app.Spec.Expose = map[string]string{"NEW": "1"}, false
	g.Expect(users.Update(t.Context(), app)).To(Succeed())
	g.Eventually(func(g Gomega) {
		config := &corev1.ConfigMap{}
		g.Expect(users.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: "shop-config"}, config)).To(Succeed())
		g.Expect(config.Data).To(Equal(map[string]string{"NEW": "1"}), "what the old one wrote goes")
		g.Expect(objects(t, g, users)).NotTo(HaveKey("*v1.Ingress shop"))
	}).Should(Succeed())
	g.Expect(users.Delete(t.Context(), app)).To(Succeed())
	g.Eventually(func(g Gomega) { g.Expect(objects(t, g, users)).To(BeEmpty()) }).Should(Succeed())
	stop()
}

func newScheme(g *WithT) *runtime.Scheme {
	s := runtime.NewScheme()
	g.Expect(clientgoscheme.AddToScheme(s)).To(Succeed())
	g.Expect(v1.AddToScheme(s)).To(Succeed())
	return s
}

// run runs an operator until stop.
func run(t *testing.T, g *WithT, env *envtest.Environment, setUp func(ctrl.Manager) error) (*envtest.Requests, func()) {
	t.Helper()
	requests := &envtest.Requests{}
	mgr, err := ctrl.NewManager(requests.Wrap(env.Config()), ctrl.Options{
		Scheme: newScheme(g), Metrics: metricsserver.Options{BindAddress: "0"},
		Controller: config.Controller{SkipNameValidation: new(true)},
	})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(setUp(mgr)).To(Succeed())
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()
	return requests, func() {
		cancel()
		g.Expect(<-ended).To(Succeed())
	}
}

// condition reads the WebApp, and whether a condition of it is true.
func condition(t *testing.T, c client.Client, app *v1.WebApp, kind string) func(Gomega) bool {
	t.Helper()
	return func(g Gomega) bool {
		g.Expect(c.Get(t.Context(), client.ObjectKeyFromObject(app), app)).To(Succeed())
		return meta.IsStatusConditionTrue(app.Status.Conditions, kind)
	}
}

// objects returns what belongs to the WebApp, with its UID.
func objects(t *testing.T, g Gomega, c client.Client) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, list := range []client.ObjectList{
		&corev1.ConfigMapList{}, &corev1.SecretList{}, &corev1.ServiceList{}, &appsv1.StatefulSetList{}, &batchv1.JobList{},
		&appsv1.DeploymentList{}, &networkingv1.IngressList{}, &autoscalingv2.HorizontalPodAutoscalerList{},
	} {
		g.Expect(c.List(t.Context(), list, client.InNamespace("default"))).To(Succeed())
		g.Expect(meta.EachListItem(list, func(item runtime.Object) error {
			obj := item.(client.Object)
			if obj.GetName() == "shop" || obj.GetOwnerReferences() != nil || obj.GetLabels()["espalier.dev/owner"] != "" {
				found[fmt.Sprintf("%T %s", obj, obj.GetName())] = string(obj.GetUID())
			}
			return nil
		})).To(Succeed())
	}
	return found
}

func secret(t *testing.T, g *WithT, c client.Client) map[string][]byte {
	t.Helper()
	obj := &corev1.Secret{}
	g.Expect(c.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: "shop-credentials"}, obj)).To(Succeed())
	g.Expect(obj.Data["password"]).NotTo(BeEmpty())
	return obj.Data
}

func newWebApp() *v1.WebApp {
	return &v1.WebApp{
		ObjectMeta: metav1.ObjectMeta{Name: "shop", Namespace: "default"},
		Spec: v1.WebAppSpec{
			Image: "registry.example.com/shop:1", Settings: map[string]string{"CURRENCY": "EUR"}, Expose: true,
			Autoscale: &v1.AutoscaleSpec{MinReplicas: 2, MaxReplicas: 4, CPUPercent: 80},
		},
	}
}

// volume is what the database's claim binds to.
func volume() *corev1.PersistentVolume {
	return &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: "volume"},
		Spec: corev1.PersistentVolumeSpec{
			AccessModes:            []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Capacity:               corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("10Gi")},
			PersistentVolumeSource: corev1.PersistentVolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/simulated"}},
		},
	}
}

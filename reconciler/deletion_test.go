// SPDX-License-Identifier: Apache-2.0

package reconciler_test

import (
	"context"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/espalier-dev/espalier/envtest"
	v1 "github.com/espalier-dev/espalier/examples/webapp/api/v1"
	"github.com/espalier-dev/espalier/examples/webapp/graph"
)

func isDelete(r envtest.Request) bool { return r.Verb == "delete" }

// resources are those of the requests, in order.
func resources(log envtest.RequestLog) (out []string) {
	for _, r := range log {
		out = append(out, r.Resource)
	}
	return out
}

func eventuallyGone(ctx context.Context, obj client.Object) {
	GinkgoHelper()
	Eventually(func(ctx context.Context) error {
		return suite.client.Get(ctx, client.ObjectKeyFromObject(obj), obj)
	}).WithContext(ctx).Should(Satisfy(apierrors.IsNotFound))
}

// expectNothingLeft fails if an object still carries the primary's UID.
func expectNothingLeft(ctx context.Context, app *v1.WebApp) {
	GinkgoHelper()
	for _, kind := range []string{
		"ConfigMap", "Secret", "Service", "apps/StatefulSet", "apps/Deployment", "batch/Job", "networking.k8s.io/Ingress",
	} {
		group, name := "", kind
		if i := slices.Index([]byte(kind), '/'); i >= 0 {
			group, name = kind[:i], kind[i+1:]
		}
		Eventually(func(g Gomega, ctx context.Context) {
			list := &metav1.PartialObjectMetadataList{}
			list.SetGroupVersionKind(metav1.SchemeGroupVersion.WithKind(name + "List"))
			gvk := list.GroupVersionKind()
			gvk.Group, gvk.Version = group, "v1"
			list.SetGroupVersionKind(gvk)
			g.Expect(suite.client.List(ctx, list, client.MatchingLabels{"espalier.dev/owner": string(app.UID)})).To(Succeed())
			g.Expect(list.Items).To(BeEmpty())
		}).WithContext(ctx).Should(Succeed())
	}
}

var _ = Describe("Deletion", func() {
	var namespace string
	start := func(ctx context.Context, ordered bool, change func(*v1.WebApp)) (*operator, *v1.WebApp) {
		GinkgoHelper()
		namespace = newNamespace(ctx)
		options := graph.Options()
		options.OrderedDeletion = ordered
		o := startOperator(options)
		app := newWebApp(namespace)
		change(app)
		Expect(suite.client.Create(ctx, app)).To(Succeed())
		eventuallyReady(ctx, namespace)
		Expect(suite.client.Get(ctx, client.ObjectKeyFromObject(app), app)).To(Succeed())
		return o, app
	}
	exposed := func(app *v1.WebApp) {
		app.Spec.Expose = true
		app.Spec.Autoscale = &v1.AutoscaleSpec{MinReplicas: 1, MaxReplicas: 3, CPUPercent: 80}
	}

	It("removes what a precondition no longer wants", func(ctx context.Context) { // R13 R14 X8
		o, app := start(ctx, true, exposed)
		mark := o.requests.Mark()
		app.Spec.Expose, app.Spec.Autoscale = false, nil
		Expect(suite.client.Update(ctx, app)).To(Succeed())
		eventuallyReady(ctx, namespace)
		Expect(resources(o.requests.Since(mark).Where(isDelete))).To(ConsistOf("ingresses", "horizontalpodautoscalers"))
		node := func(name string) v1.NodeStatus {
			now := get[v1.WebApp](namespace, "shop")(NewWithT(GinkgoT()), ctx)
			i := slices.IndexFunc(now.Status.Nodes, func(n v1.NodeStatus) bool { return n.Name == name })
			return now.Status.Nodes[i]
		}
		Expect(node("ingress").State).To(Equal("Disabled"))
		Expect(node("autoscaler").State).To(Equal("Disabled"))
	})

	for _, how := range []metav1.DeletionPropagation{metav1.DeletePropagationBackground, metav1.DeletePropagationForeground} {
		It("is in reverse order where order is asked for, "+string(how), func(ctx context.Context) { // R16 R18 R61 J4
			o, app := start(ctx, true, exposed)
			Expect(app.Finalizers).To(ContainElement("espalier.dev/webapp"))
			mark := o.requests.Mark()
			Expect(suite.client.Delete(ctx, app, client.PropagationPolicy(how))).To(Succeed())
			eventuallyGone(ctx, app)
			order := resources(o.requests.Since(mark).Where(isDelete))
			Expect(order).To(HaveLen(9))
			before := func(a, b string) {
				GinkgoHelper()
				Expect(slices.Index(order, a)).To(BeNumerically("<", slices.Index(order, b)), "%s before %s in %v", a, b, order)
			}
			before("ingresses", "services")
			before("services", "deployments")
			before("deployments", "jobs")
			before("jobs", "statefulsets")
			before("statefulsets", "secrets")
			Expect(o.requests.Since(mark).Where(isDelete).Counts()).NotTo(ContainElement(BeNumerically(">", 2)), "each deleted once")
			expectNothingLeft(ctx, app)
		})

		It("is left to the garbage collector by default, "+string(how), func(ctx context.Context) { // R17 R36
			o, app := start(ctx, false, exposed)
			Expect(app.Finalizers).To(BeEmpty())
			config := get[corev1.ConfigMap](namespace, "shop-config")(NewWithT(GinkgoT()), ctx)
			Expect(metav1.IsControlledBy(config, app)).To(BeTrue())
			mark := o.requests.Mark()
			Expect(suite.client.Delete(ctx, app, client.PropagationPolicy(how))).To(Succeed())
			eventuallyGone(ctx, app)
			expectNothingLeft(ctx, app)
			Expect(o.requests.Since(mark).Where(isDelete)).To(BeEmpty())
		})
	}

	It("says in the status what remains", func(ctx context.Context) { // R40 R63 J15
		_, app := start(ctx, true, exposed)
		service := get[corev1.Service](namespace, "shop")(NewWithT(GinkgoT()), ctx)
		service.Finalizers = []string{"example.com/hold"}
		Expect(suite.client.Update(ctx, service)).To(Succeed())
		Expect(suite.client.Delete(ctx, app)).To(Succeed())
		Eventually(func(g Gomega, ctx context.Context) {
			ready := meta.FindStatusCondition(get[v1.WebApp](namespace, "shop")(g, ctx).Status.Conditions, "Ready")
			g.Expect(ready.Status).To(Equal(metav1.ConditionFalse))
			g.Expect(ready.Reason).To(Equal("Deleting"))
			g.Expect(ready.Message).To(ContainSubstring(`service: Service "shop" is being deleted, held by ["example.com/hold"]`))
		}).WithContext(ctx).Should(Succeed())
		Expect(suite.client.Get(ctx, client.ObjectKeyFromObject(service), service)).To(Succeed())
		service.Finalizers = nil
		Expect(suite.client.Update(ctx, service)).To(Succeed())
		eventuallyGone(ctx, app)
		expectNothingLeft(ctx, app)
	})

	It("leaves nothing behind when it comes in the middle of the creation", func(ctx context.Context) { // R61
		namespace = newNamespace(ctx)
		startOperator(graph.Options())
		app := newWebApp(namespace)
		Expect(suite.client.Create(ctx, app)).To(Succeed())
		Eventually(func(g Gomega, ctx context.Context) {
			get[corev1.Secret](namespace, "shop-credentials")(g, ctx)
		}).WithContext(ctx).WithPolling(1).Should(Succeed())
		Expect(suite.client.Delete(ctx, app)).To(Succeed())
		eventuallyGone(ctx, app)
		expectNothingLeft(ctx, app)
	})
})

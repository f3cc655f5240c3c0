// SPDX-License-Identifier: Apache-2.0

package reconciler_test

import (
	"context"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/espalier-dev/espalier/envtest"
	v1 "github.com/espalier-dev/espalier/examples/webapp/api/v1"
	"github.com/espalier-dev/espalier/reconciler"
	"github.com/espalier-dev/espalier/workflow"
)

var _ = Describe("A controller written by hand before this one", func() { // R46
	const finalizer, condition = "shops.example.com/cleanup", "Deployed"
	former := reconciler.Options[*v1.WebApp]{
		FormerManagers: []string{"by-hand"}, FormerFinalizers: []string{finalizer}, FormerConditions: []string{condition},
	}
	var namespace string
	var app *v1.WebApp

	// What the old one has left: an object that it updated, its finalizer and its condition.
	BeforeEach(func(ctx context.Context) {
		namespace = newNamespace(ctx)
		app = newWebApp(namespace)
		app.Finalizers = []string{finalizer, "somebody.example.com/else"}
		Expect(suite.client.Create(ctx, app)).To(Succeed())
		app.Status.Conditions = []metav1.Condition{
			{Type: condition, Status: "True", Reason: "Done", LastTransitionTime: metav1.Now()},
			{Type: "Somebodys", Status: "True", Reason: "Done", LastTransitionTime: metav1.Now()},
		}
		byHand := client.WithFieldOwner(suite.client, "by-hand")
		Expect(byHand.Status().Update(ctx, app)).To(Succeed())
		obj := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "shop-config", Namespace: namespace}}
		_, err := controllerutil.CreateOrUpdate(ctx, byHand, obj, func() error {
			obj.Data = map[string]string{"old": "1"}
			return controllerutil.SetControllerReference(app, obj, suite.client.Scheme())
		})
		Expect(err).NotTo(HaveOccurred())
	})
	release := func(ctx context.Context) {
		GinkgoHelper()
		patch := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))
		Expect(suite.client.Patch(ctx, app, patch)).To(Succeed())
	}

	for _, ordered := range []bool{false, true} {
		It(map[bool]string{false: "leaves nothing behind", true: "leaves nothing behind, in order"}[ordered], func(ctx context.Context) {
			options := former
			options.OrderedDeletion = ordered
			o := startSmall(options, func(b *workflow.Builder[*v1.WebApp]) { addConfigMap(b, "config") })
			eventuallyReady(ctx, namespace)
			finalizers := []string{"somebody.example.com/else"}
			if ordered {
				finalizers = append(finalizers, "espalier.dev/small")
			}
			Eventually(get[v1.WebApp](namespace, "shop")).WithContext(ctx).Should(HaveField("Finalizers", ConsistOf(finalizers)))
			Expect(suite.client.Get(ctx, client.ObjectKeyFromObject(app), app)).To(Succeed())
			Expect(meta.FindStatusCondition(app.Status.Conditions, condition)).To(BeNil())
			Expect(meta.FindStatusCondition(app.Status.Conditions, "Somebodys")).NotTo(BeNil())
			Expect(get[corev1.ConfigMap](namespace, "shop-config")(NewWithT(GinkgoT()), ctx).Data).To(BeEmpty())
			touch := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"annotations":{"touched":"yes"}}}`))
			Expect(suite.client.Patch(ctx, app, touch)).To(Succeed())
			Expect(envtest.ExpectNoRequests(ctx, o.requests, time.Second)).To(Succeed())
			release(ctx)
		})
	}

	It("had begun to delete", func(ctx context.Context) { // R61
		Expect(suite.client.Delete(ctx, app)).To(Succeed())
		startSmall(former, func(b *workflow.Builder[*v1.WebApp]) { addConfigMap(b, "config") })
		Eventually(get[v1.WebApp](namespace, "shop")).WithContext(ctx).
			Should(HaveField("Finalizers", ConsistOf("somebody.example.com/else")))
		release(ctx)
		eventuallyGone(ctx, app)
	})
})

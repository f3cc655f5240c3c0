// SPDX-License-Identifier: Apache-2.0

package reconciler_test

import (
	"context"
	"fmt"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/espalier-dev/espalier/envtest"
	"github.com/espalier-dev/espalier/examples/webapp/graph"
)

var _ = Describe("What stands", func() {
	var namespace string
	var o *operator
	writesSince := func(mark int) map[string]int {
		return o.requests.Since(mark).Where(envtest.Request.Write).Counts()
	}

	BeforeEach(func(ctx context.Context) {
		namespace = newNamespace(ctx)
		o = startOperator(graph.Options())
		Expect(suite.client.Create(ctx, newWebApp(namespace))).To(Succeed())
		eventuallyReady(ctx, namespace)
	})

	It("is made again when somebody deletes it", func(ctx context.Context) { // R31 F1
		service := get[corev1.Service](namespace, "shop")(NewWithT(GinkgoT()), ctx)
		mark := o.requests.Mark()
		Expect(suite.client.Delete(ctx, service)).To(Succeed())
		Eventually(func(g Gomega, ctx context.Context) {
			again := get[corev1.Service](namespace, "shop")(g, ctx)
			g.Expect(again.UID).NotTo(Equal(service.UID))
		}).WithContext(ctx).Should(Succeed())
		Expect(envtest.ExpectNoRequests(ctx, o.requests, time.Second)).To(Succeed())
		Expect(writesSince(mark)).To(HaveKeyWithValue("apply services", 1))
	})

	It("is corrected with one write when somebody edits what is owned", func(ctx context.Context) { // R31 E27
		web := get[appsv1.Deployment](namespace, "shop")(NewWithT(GinkgoT()), ctx)
		mark := o.requests.Mark()
		web.Spec.Template.Spec.Containers[0].Image = "registry.example.com/intruder:1"
		Expect(suite.client.Update(ctx, web)).To(Succeed())
		Eventually(func(g Gomega, ctx context.Context) {
			now := get[appsv1.Deployment](namespace, "shop")(g, ctx)
			g.Expect(now.Spec.Template.Spec.Containers[0].Image).To(Equal("registry.example.com/shop:1"))
			g.Expect(now.Status.ObservedGeneration).To(Equal(now.Generation))
		}).WithContext(ctx).Should(Succeed())
		eventuallyReady(ctx, namespace)
		Expect(writesSince(mark)).To(HaveKeyWithValue("apply deployments.apps", 1))
	})

	It("is left alone when somebody sets what isn't owned", func(ctx context.Context) { // R30 E23
		service := get[corev1.Service](namespace, "shop")(NewWithT(GinkgoT()), ctx)
		metav1.SetMetaDataAnnotation(&service.ObjectMeta, "example.com/note", "mine")
		Expect(suite.client.Update(ctx, service)).To(Succeed())
		Expect(envtest.ExpectNoRequests(ctx, o.requests, time.Second)).To(Succeed())
		Expect(get[corev1.Service](namespace, "shop")(NewWithT(GinkgoT()), ctx).Annotations).
			To(HaveKeyWithValue("example.com/note", "mine"))
	})

	It("costs no request under heartbeats", func(ctx context.Context) { // R31 E13
		ended := make(chan error, 1)
		go func() {
			defer GinkgoRecover()
			ended <- envtest.ExpectNoRequests(ctx, o.requests, 3*time.Second)
		}()
		for beat := 0; ; beat++ {
			select {
			case err := <-ended:
				Expect(err).NotTo(HaveOccurred())
				Expect(beat).To(BeNumerically(">", 10), "heartbeats")
				return
			default:
			}
			for _, obj := range []client.Object{&appsv1.Deployment{}, &appsv1.StatefulSet{}} {
				name := map[bool]string{true: "shop-db", false: "shop"}[fmt.Sprintf("%T", obj) == "*v1.StatefulSet"]
				obj.SetName(name)
				obj.SetNamespace(namespace)
				patch := fmt.Sprintf(`{"status":{"conditions":[{"type":"Heartbeat","status":"True","message":"%d"}]}}`, beat)
				Expect(suite.client.Status().Patch(ctx, obj, client.RawPatch("application/merge-patch+json", []byte(patch)))).
					To(Succeed())
			}
		}
	})

	It("isn't changed by a restart", func(ctx context.Context) { // R31 R69 E17
		versions := func() map[string]string {
			out := map[string]string{}
			for _, list := range []client.ObjectList{
				&corev1.ConfigMapList{}, &corev1.SecretList{}, &corev1.ServiceList{}, &appsv1.DeploymentList{}, &appsv1.StatefulSetList{},
			} {
				Expect(suite.client.List(ctx, list, client.InNamespace(namespace))).To(Succeed())
				Expect(meta.EachListItem(list, func(item runtime.Object) error {
					obj := item.(client.Object)
					out[fmt.Sprintf("%T %s", obj, obj.GetName())] = obj.GetResourceVersion()
					return nil
				})).To(Succeed())
			}
			return out
		}
		before := versions()
		o.stop()
		o = startOperator(graph.Options())
		Eventually(func(ctx context.Context) error {
			return envtest.ExpectNoRequests(ctx, o.requests, time.Second)
		}).WithContext(ctx).Should(Succeed())
		Expect(versions()).To(Equal(before))
		Expect(writesSince(0)).NotTo(HaveKey("apply webapps.webapp.example.espalier.dev/status"))
	})

	It("keeps its generated password when everything else changes", func(ctx context.Context) { // R47
		before := get[corev1.Secret](namespace, "shop-credentials")(NewWithT(GinkgoT()), ctx)
		Expect(before.Data["password"]).To(HaveLen(24))
		app := newWebApp(namespace)
		Expect(suite.client.Get(ctx, client.ObjectKeyFromObject(app), app)).To(Succeed())
		app.Spec.Image = "registry.example.com/shop:2"
		Expect(suite.client.Update(ctx, app)).To(Succeed())
		eventuallyReady(ctx, namespace)
		Expect(get[corev1.Secret](namespace, "shop-credentials")(NewWithT(GinkgoT()), ctx).Data).To(Equal(before.Data))
	})
})

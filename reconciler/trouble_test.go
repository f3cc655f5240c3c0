// SPDX-License-Identifier: Apache-2.0

package reconciler_test

import (
	"context"
	"encoding/json"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/espalier-dev/espalier/envtest"
	v1 "github.com/espalier-dev/espalier/examples/webapp/api/v1"
	"github.com/espalier-dev/espalier/examples/webapp/graph"
	"github.com/espalier-dev/espalier/workflow"
)

var _ = Describe("Trouble", func() {
	It("ends a finalizer that somebody else owns too", func(ctx context.Context) { // R61
		namespace := newNamespace(ctx)
		startOperator(graph.Options())
		app := newWebApp(namespace)
		Expect(suite.client.Create(ctx, app)).To(Succeed())
		eventuallyReady(ctx, namespace)
		body, err := json.Marshal(map[string]any{
			"apiVersion": v1.GroupVersion().String(), "kind": v1.Kind, "metadata": map[string]any{
				"name": app.Name, "namespace": namespace, "finalizers": []string{"espalier.dev/webapp"},
			},
		})
		Expect(err).NotTo(HaveOccurred())
		Expect(suite.client.Patch(ctx, app, client.RawPatch(types.ApplyPatchType, body), client.FieldOwner("restore"))).To(Succeed())
		Expect(suite.client.Delete(ctx, app)).To(Succeed())
		eventuallyGone(ctx, app)
		expectNothingLeft(ctx, app)
	})

	It("puts its labels back on an object that they were taken off", func(ctx context.Context) { // R31 R36
		namespace := newNamespace(ctx)
		o := startOperator(graph.Options())
		Expect(suite.client.Create(ctx, newWebApp(namespace))).To(Succeed())
		eventuallyReady(ctx, namespace)
		config := get[corev1.ConfigMap](namespace, "shop-config")(NewWithT(GinkgoT()), ctx)
		labels := config.Labels
		mark := o.requests.Mark()
		config.Labels = nil
		Expect(suite.client.Update(ctx, config)).To(Succeed())
		Eventually(func(g Gomega, ctx context.Context) {
			g.Expect(get[corev1.ConfigMap](namespace, "shop-config")(g, ctx).Labels).To(Equal(labels))
		}).WithContext(ctx).Should(Succeed())
		Expect(o.requests.Since(mark).Where(envtest.Request.Write).Counts()).To(HaveKeyWithValue("apply configmaps", 1))
	})

	It("never deletes copies that others made, labels and all", func(ctx context.Context) { // R40
		namespace, elsewhere := newNamespace(ctx), newNamespace(ctx)
		startOperator(graph.Options())
		app := newWebApp(namespace)
		Expect(suite.client.Create(ctx, app)).To(Succeed())
		eventuallyReady(ctx, namespace)
		Expect(suite.client.Get(ctx, client.ObjectKeyFromObject(app), app)).To(Succeed())
		original := get[corev1.ConfigMap](namespace, "shop-config")(NewWithT(GinkgoT()), ctx)
		var copies []*corev1.ConfigMap
		for place, name := range map[string]string{namespace: "a-copy", elsewhere: "shop-config"} {
			c := &corev1.ConfigMap{
				ObjectMeta: metav1.ObjectMeta{Namespace: place, Name: name, Labels: original.Labels}, Data: original.Data,
			}
			Expect(suite.client.Create(ctx, c, client.FieldOwner("backup"))).To(Succeed())
			copies = append(copies, c)
		}
		Expect(suite.client.Delete(ctx, app)).To(Succeed())
		eventuallyGone(ctx, app)
		for _, c := range copies {
			Expect(suite.client.Get(ctx, client.ObjectKeyFromObject(c), c)).To(Succeed())
		}
	})

	It("tells a new primary of the same name from the old one", func(ctx context.Context) { // R33 R61
		namespace := newNamespace(ctx)
		startOperator(graph.Options())
		app := newWebApp(namespace)
		Expect(suite.client.Create(ctx, app)).To(Succeed())
		eventuallyReady(ctx, namespace)
		old := get[corev1.Secret](namespace, "shop-credentials")(NewWithT(GinkgoT()), ctx)
		Expect(suite.client.Delete(ctx, app)).To(Succeed())
		Eventually(func(ctx context.Context) error {
			return suite.client.Create(ctx, newWebApp(namespace))
		}).WithContext(ctx).Should(Succeed())
		eventuallyReady(ctx, namespace)
		now := get[corev1.Secret](namespace, "shop-credentials")(NewWithT(GinkgoT()), ctx)
		Expect(now.UID).NotTo(Equal(old.UID))
		Expect(now.Data).NotTo(Equal(old.Data))
	})

	It("writes the status though author code panics", func(ctx context.Context) { // R62 C1
		namespace := newNamespace(ctx)
		options := graph.Options()
		options.Summarize = func(*workflow.Run[*v1.WebApp], *workflow.Result, *v1.WebApp) { panic("in Summarize") }
		options.OnResult = func(*v1.WebApp, *workflow.Result) { panic("in OnResult") }
		startOperator(options)
		Expect(suite.client.Create(ctx, newWebApp(namespace))).To(Succeed())
		eventuallyReady(ctx, namespace)
	})
})

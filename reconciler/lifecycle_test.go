// SPDX-License-Identifier: Apache-2.0

package reconciler_test

import (
	"context"
	"slices"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/espalier-dev/espalier/envtest"
	v1 "github.com/espalier-dev/espalier/examples/webapp/api/v1"
	"github.com/espalier-dev/espalier/examples/webapp/graph"
)

// beReady matches a WebApp whose Ready condition is True for its present generation.
func beReady(g Gomega, app *v1.WebApp) {
	ready := meta.FindStatusCondition(app.Status.Conditions, "Ready")
	g.Expect(ready).NotTo(BeNil())
	g.Expect(ready.Status).To(Equal(metav1.ConditionTrue), ready.Message)
	g.Expect(ready.ObservedGeneration).To(Equal(app.Generation))
	g.Expect(app.Status.ObservedGeneration).To(Equal(app.Generation))
}

func eventuallyReady(ctx context.Context, namespace string) {
	GinkgoHelper()
	Eventually(func(g Gomega, ctx context.Context) {
		beReady(g, get[v1.WebApp](namespace, "shop")(g, ctx))
	}).WithContext(ctx).Should(Succeed())
}

var _ = Describe("The life of a primary", func() {
	It("creates every dependent in dependency order, once", func(ctx context.Context) {
		namespace := newNamespace(ctx)
		o := startOperator(graph.Options())
		Expect(suite.client.Create(ctx, newWebApp(namespace))).To(Succeed())
		eventuallyReady(ctx, namespace)

		writes := o.requests.Since(0).Where(func(r envtest.Request) bool { return r.Write() && r.Namespace == namespace })
		var order []string
		for _, r := range writes {
			if r.Subresource == "" {
				order = append(order, r.Resource)
			}
		}
		GinkgoWriter.Println(writes)
		Expect(order).To(ConsistOf("webapps", "configmaps", "secrets", "services", "statefulsets", "jobs", "deployments", "services"))
		before := func(a, b string) {
			GinkgoHelper()
			Expect(slices.Index(order, a)).To(BeNumerically("<", slices.Index(order, b)), "%s before %s in %v", a, b, order)
		}
		before("webapps", "configmaps") // the finalizer comes first
		before("secrets", "statefulsets")
		before("statefulsets", "jobs")
		before("jobs", "deployments")

		By("resting")
		Expect(envtest.ExpectNoRequests(ctx, o.requests, 2*time.Second)).To(Succeed())
	})
})

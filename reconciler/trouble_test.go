// SPDX-License-Identifier: Apache-2.0

package reconciler_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"sync"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/espalier-dev/espalier/envtest"
	v1 "github.com/espalier-dev/espalier/examples/webapp/api/v1"
	"github.com/espalier-dev/espalier/examples/webapp/graph"
	"github.com/espalier-dev/espalier/reconciler"
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

	It("tries again what somebody else was faster with", func(ctx context.Context) { // R33 R61 R62
		namespace := newNamespace(ctx)
		b := workflow.NewBuilder[*v1.WebApp]("small")
		addConfigMap(b, "config")
		w, err := b.Build()
		Expect(err).NotTo(HaveOccurred())
		cfg := suite.env.Config()
		var refused sync.Map
		cfg.Wrap(func(next http.RoundTripper) http.RoundTripper { // the first of every kind of write
			return roundTripper(func(r *http.Request) (*http.Response, error) {
				isWrite := r.Method == http.MethodPatch || r.Method == http.MethodDelete
				if _, again := refused.LoadOrStore(r.Method+" "+r.URL.Path, true); !isWrite || again {
					return next.RoundTrip(r)
				}
				return conflict(r), nil
			})
		})
		runOperator(cfg, w, reconciler.Options[*v1.WebApp]{OrderedDeletion: true})
		app := newWebApp(namespace)
		Expect(suite.client.Create(ctx, app)).To(Succeed())
		eventuallyReady(ctx, namespace)
		refused.Clear()
		Expect(suite.client.Delete(ctx, app)).To(Succeed())
		eventuallyGone(ctx, app)
		expectNothingLeft(ctx, app)
	})

	It("puts its finalizer back where somebody has set another", func(ctx context.Context) { // R61
		namespace := newNamespace(ctx)
		startOperator(graph.Options())
		app := newWebApp(namespace)
		Expect(suite.client.Create(ctx, app)).To(Succeed())
		eventuallyReady(ctx, namespace)
		patch := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":["example.com/other"]}}`))
		Expect(suite.client.Patch(ctx, app, patch)).To(Succeed())
		Eventually(func(g Gomega, ctx context.Context) {
			finalizers := get[v1.WebApp](namespace, "shop")(g, ctx).Finalizers
			g.Expect(finalizers).To(ConsistOf("example.com/other", "espalier.dev/webapp"))
		}).WithContext(ctx).Should(Succeed())
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

type roundTripper func(*http.Request) (*http.Response, error)

func (r roundTripper) RoundTrip(req *http.Request) (*http.Response, error) { return r(req) }

// conflict is what the server answers to the slower of two.
func conflict(req *http.Request) *http.Response {
	status := apierrors.NewConflict(schema.GroupResource{}, "shop", errors.New("the object has been modified")).Status()
	body, err := json.Marshal(status)
	Expect(err).NotTo(HaveOccurred())
	return &http.Response{
		StatusCode: http.StatusConflict, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(bytes.NewReader(body)), Request: req,
	}
}

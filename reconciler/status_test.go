// SPDX-License-Identifier: Apache-2.0

package reconciler_test

import (
	"context"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/espalier-dev/espalier/dependent"
	"github.com/espalier-dev/espalier/envtest"
	v1 "github.com/espalier-dev/espalier/examples/webapp/api/v1"
	"github.com/espalier-dev/espalier/examples/webapp/graph"
	"github.com/espalier-dev/espalier/reconciler"
	"github.com/espalier-dev/espalier/workflow"
)

var _ = Describe("The status", func() {
	It("is that of the run, though the spec changes in the middle of it", func(ctx context.Context) { // R62 R63 N9
		namespace := newNamespace(ctx)
		options := graph.Options()
		var once sync.Once
		var mutex sync.Mutex
		var seen []int64 // generations of the runs
		options.OnResult = func(primary *v1.WebApp, _ *workflow.Result) {
			mutex.Lock()
			defer mutex.Unlock()
			seen = append(seen, primary.Generation)
			once.Do(func() { // after the nodes, before the status is written
				app := newWebApp(namespace)
				Expect(suite.client.Get(ctx, client.ObjectKeyFromObject(app), app)).To(Succeed())
				app.Spec.Settings = map[string]string{"CURRENCY": "CHF"}
				Expect(suite.client.Update(ctx, app)).To(Succeed())
				Expect(app.Generation).To(Equal(primary.Generation + 1))
			})
		}
		statuses := watchStatuses(ctx, namespace)
		startOperator(options)
		Expect(suite.client.Create(ctx, newWebApp(namespace))).To(Succeed())
		eventuallyReady(ctx, namespace)
		first := <-statuses
		Expect(first.Generation).To(Equal(int64(2)), "the spec had changed")
		Expect(first.Status.ObservedGeneration).To(Equal(int64(1)), "the status is that of the run")
		ready := meta.FindStatusCondition(first.Status.Conditions, "Ready")
		Expect(ready.ObservedGeneration).To(Equal(int64(1)))
		Expect(get[corev1.ConfigMap](namespace, "shop-config")(NewWithT(GinkgoT()), ctx).Data).
			To(HaveKeyWithValue("CURRENCY", "CHF"))
	})

	It("leaves the conditions and fields of others alone, and garbage in it changes no decision", func(ctx context.Context) { // R62 R64 N2
		namespace := newNamespace(ctx)
		o := startOperator(graph.Options())
		app := newWebApp(namespace)
		Expect(suite.client.Create(ctx, app)).To(Succeed())
		eventuallyReady(ctx, namespace)
		mark := o.requests.Mark()
		Expect(suite.client.Get(ctx, client.ObjectKeyFromObject(app), app)).To(Succeed())
		app.Status.URL = "http://garbage.example.com"
		meta.SetStatusCondition(&app.Status.Conditions, metav1.Condition{Type: "Foreign", Status: "True", Reason: "Yes"})
		meta.SetStatusCondition(&app.Status.Conditions, metav1.Condition{Type: "Ready", Status: "False", Reason: "Garbage"})
		app.Status.Nodes = nil
		Expect(suite.client.Status().Update(ctx, app)).To(Succeed())
		Expect(suite.client.Get(ctx, client.ObjectKeyFromObject(app), app)).To(Succeed())
		app.Annotations = map[string]string{"example.com/wake": "up"}
		Expect(suite.client.Update(ctx, app)).To(Succeed())
		eventuallyReady(ctx, namespace)
		Eventually(func(ctx context.Context) error {
			return envtest.ExpectNoRequests(ctx, o.requests, time.Second)
		}).WithContext(ctx).Should(Succeed())
		now := get[v1.WebApp](namespace, "shop")(NewWithT(GinkgoT()), ctx)
		Expect(meta.IsStatusConditionTrue(now.Status.Conditions, "Foreign")).To(BeTrue())
		Expect(now.Status.Nodes).To(HaveLen(9))
		Expect(o.requests.Since(mark).Where(envtest.Request.Write).Counts()).
			To(Equal(map[string]int{"apply webapps.webapp.example.espalier.dev/status": 1}))
	})

	It("is written once, whatever Go types an author fills in", func(ctx context.Context) { // R62 R64
		type primary = *unstructured.Unstructured
		namespace := newNamespace(ctx)
		o := startSmall(reconciler.Options[primary]{
			GroupVersionKind: v1.GroupVersion().WithKind(v1.Kind), OrderedDeletion: true,
			Summarize: func(_ *workflow.Run[primary], _ *workflow.Result, into primary) {
				into.Object["status"] = map[string]any{"url": "a\xffb", "nodes": []map[string]string{{"name": "a", "state": "b"}}}
			},
		}, func(b *workflow.Builder[primary]) { addConfigMap(b, "config") })
		app := newWebApp(namespace)
		Expect(suite.client.Create(ctx, app)).To(Succeed())
		eventuallyReady(ctx, namespace)
		Expect(suite.client.Get(ctx, client.ObjectKeyFromObject(app), app)).To(Succeed())
		Expect(app.Status.Nodes).To(Equal([]v1.NodeStatus{{Name: "a", State: "b"}}))
		app.Annotations = map[string]string{"example.com/wake": "up"}
		mark := o.requests.Mark()
		Expect(suite.client.Update(ctx, app)).To(Succeed())
		Expect(envtest.ExpectNoRequests(ctx, o.requests, time.Second)).To(Succeed())
		Expect(o.requests.Since(mark).Where(envtest.Request.Write)).To(BeEmpty())
	})

	It("is stalled by what the server calls invalid, though it is tried again", func(ctx context.Context) { // R20 R63
		namespace := newNamespace(ctx)
		startSmall(reconciler.Options[*v1.WebApp]{}, func(b *workflow.Builder[*v1.WebApp]) {
			dependent.Typed(b, "config", func(*workflow.Run[*v1.WebApp]) (*corev1.ConfigMap, error) {
				return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "shop"}, Data: map[string]string{"not ok": ""}}, nil
			})
		})
		Expect(suite.client.Create(ctx, newWebApp(namespace))).To(Succeed())
		Eventually(func(g Gomega, ctx context.Context) {
			conditions := get[v1.WebApp](namespace, "shop")(g, ctx).Status.Conditions
			stalled := meta.FindStatusCondition(conditions, "Stalled")
			g.Expect(stalled).NotTo(BeNil())
			g.Expect(stalled.Status).To(Equal(metav1.ConditionTrue))
			g.Expect(stalled.Reason).To(Equal("Invalid"))
			g.Expect(meta.IsStatusConditionFalse(conditions, "Reconciling")).To(BeTrue())
		}).WithContext(ctx).Should(Succeed())
	})

	It("names somebody else's object that is in the way, and doesn't touch it", func(ctx context.Context) { // R34 R63 H10
		namespace := newNamespace(ctx)
		foreign := &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Name: "shop-config", Namespace: namespace}, Data: map[string]string{"theirs": "yes"},
		}
		Expect(suite.client.Create(ctx, foreign)).To(Succeed())
		startOperator(graph.Options())
		app := newWebApp(namespace)
		Expect(suite.client.Create(ctx, app)).To(Succeed())
		Eventually(func(g Gomega, ctx context.Context) {
			conditions := get[v1.WebApp](namespace, "shop")(g, ctx).Status.Conditions
			stalled := meta.FindStatusCondition(conditions, "Stalled")
			g.Expect(stalled).NotTo(BeNil())
			g.Expect(stalled.Status).To(Equal(metav1.ConditionTrue))
			g.Expect(stalled.Reason).To(Equal("NotOwned"))
			g.Expect(stalled.Message).To(HavePrefix(`config: ConfigMap "shop-config" exists already`))
			g.Expect(meta.IsStatusConditionFalse(conditions, "Reconciling")).To(BeTrue())
		}).WithContext(ctx).Should(Succeed())
		Expect(suite.client.Delete(ctx, app)).To(Succeed())
		eventuallyGone(ctx, app)
		Expect(get[corev1.ConfigMap](namespace, "shop-config")(NewWithT(GinkgoT()), ctx).UID).To(Equal(foreign.UID))
	})
})

// watchStatuses yields each state of the spec's WebApp that has a status, from now on.
func watchStatuses(ctx context.Context, namespace string) <-chan *v1.WebApp {
	GinkgoHelper()
	c, err := client.NewWithWatch(suite.env.Config(), client.Options{Scheme: newScheme()})
	Expect(err).NotTo(HaveOccurred())
	w, err := c.Watch(ctx, &v1.WebAppList{}, client.InNamespace(namespace))
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(w.Stop)
	out := make(chan *v1.WebApp, 1000)
	go func() {
		for event := range w.ResultChan() {
			if app, ok := event.Object.(*v1.WebApp); ok && len(app.Status.Conditions) > 0 {
				out <- app
			}
		}
	}()
	return out
}

// SPDX-License-Identifier: Apache-2.0

package reconciler_test

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/espalier-dev/espalier/dependent"
	v1 "github.com/espalier-dev/espalier/examples/webapp/api/v1"
	"github.com/espalier-dev/espalier/reconciler"
	"github.com/espalier-dev/espalier/workflow"
)

var _ = Describe("A kind that can't be read", func() {
	readyIs := func(namespace string, status metav1.ConditionStatus, reason string) func(Gomega, context.Context) {
		return func(g Gomega, ctx context.Context) {
			app := get[v1.WebApp](namespace, "shop")(g, ctx)
			ready := meta.FindStatusCondition(app.Status.Conditions, "Ready")
			g.Expect(ready).NotTo(BeNil())
			g.Expect(ready.Status).To(Equal(status))
			if reason != "" {
				g.Expect(ready.Reason + " " + ready.Message).To(ContainSubstring(reason))
			}
		}
	}

	It("is waited for while the rest goes on, and proceeds when it is served", func(ctx context.Context) { // R39 R60 K1
		namespace := newNamespace(ctx)
		startSmall(reconciler.Options[*v1.WebApp]{OrderedDeletion: true}, func(b *workflow.Builder[*v1.WebApp]) {
			addConfigMap(b, "settings")
			gvk := schema.GroupVersionKind{Group: "guests.example.com", Version: "v1", Kind: "Guest"}
			dependent.Unstructured(b, gvk, "guest", func(r *workflow.Run[*v1.WebApp]) (*unstructured.Unstructured, error) {
				obj := &unstructured.Unstructured{}
				obj.SetName(r.Primary().Name)
				return obj, nil
			})
		})
		app := newWebApp(namespace)
		Expect(suite.client.Create(ctx, app)).To(Succeed())
		Eventually(readyIs(namespace, metav1.ConditionFalse, "doesn't serve Guest")).WithContext(ctx).Should(Succeed())
		crd := &unstructured.Unstructured{}
		Expect(yaml.Unmarshal([]byte(`{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition,
			metadata: {name: guests.guests.example.com}, spec: {group: guests.example.com, scope: Namespaced,
				names: {kind: Guest, plural: guests, singular: guest, listKind: GuestList},
				versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]}}`),
			&crd.Object)).To(Succeed())
		Expect(suite.client.Create(ctx, crd)).To(Succeed())
		DeferCleanup(func(ctx context.Context) { Expect(suite.client.Delete(ctx, crd)).To(Succeed()) })
		Eventually(readyIs(namespace, metav1.ConditionTrue, "")).WithContext(ctx).Should(Succeed())
		Expect(suite.client.Delete(ctx, app)).To(Succeed())
		eventuallyGone(ctx, app)
	})

	It("fails its own node alone when it is forbidden", func(ctx context.Context) { // R32 R60
		namespace := newNamespace(ctx)
		b := workflow.NewBuilder[*v1.WebApp]("small")
		addConfigMap(b, "settings")
		dependent.Typed(b, "lease", func(r *workflow.Run[*v1.WebApp]) (*coordinationv1.Lease, error) {
			return &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: r.Primary().Name}}, nil
		})
		w, err := b.Build()
		Expect(err).NotTo(HaveOccurred())
		user, err := suite.env.User(operatorUser)
		Expect(err).NotTo(HaveOccurred())
		runManager(user, w, reconciler.Options[*v1.WebApp]{})
		Expect(suite.client.Create(ctx, newWebApp(namespace))).To(Succeed())
		Eventually(readyIs(namespace, metav1.ConditionFalse, "listing Lease")).WithContext(ctx).Should(Succeed())
		settings := &unstructured.Unstructured{}
		settings.SetGroupVersionKind(schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"})
		Expect(suite.client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: "shop-settings"}, settings)).To(Succeed())
	})
})

// SPDX-License-Identifier: Apache-2.0

package reconciler_test

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/espalier-dev/espalier/dependent"
	v1 "github.com/espalier-dev/espalier/examples/webapp/api/v1"
	"github.com/espalier-dev/espalier/reconciler"
	"github.com/espalier-dev/espalier/workflow"
)

var _ = Describe("The end of a primary", func() {
	type builder = *workflow.Builder[*v1.WebApp]
	type run = *workflow.Run[*v1.WebApp]
	ordered := reconciler.Options[*v1.WebApp]{OrderedDeletion: true}
	var namespace string
	var app *v1.WebApp

	BeforeEach(func(ctx context.Context) {
		namespace = newNamespace(ctx)
		app = newWebApp(namespace)
	})
	create := func(ctx context.Context) {
		GinkgoHelper()
		Expect(suite.client.Create(ctx, app)).To(Succeed())
		eventuallyReady(ctx, namespace)
		Expect(suite.client.Get(ctx, client.ObjectKeyFromObject(app), app)).To(Succeed())
	}
	end := func(ctx context.Context) {
		GinkgoHelper()
		Expect(suite.client.Delete(ctx, app)).To(Succeed())
		eventuallyGone(ctx, app)
	}

	It("comes though a part of the graph is the garbage collector's", func(ctx context.Context) { // R17 R18 R61
		startSmall(reconciler.Options[*v1.WebApp]{}, func(b builder) {
			addConfigMap(b, "ours").DeleteWhen("always", func(run) workflow.Verdict { return workflow.Met() })
			addConfigMap(b, "collected")
		})
		create(ctx)
		end(ctx)
		expectNothingLeft(ctx, app)
	})

	It("comes though an inactive node is left alone", func(ctx context.Context) { // R15 R18 R61
		startSmall(ordered, func(b builder) {
			addConfigMap(b, "config")
			addConfigMap(b, "optional").ActivateWhen("exposed", func(r run) workflow.Verdict {
				return workflow.If(r.Primary().Spec.Expose, "NotExposed", "")
			})
		})
		app.Spec.Expose = true
		create(ctx)
		app.Spec.Expose = false
		Expect(suite.client.Update(ctx, app)).To(Succeed())
		eventuallyReady(ctx, namespace)
		end(ctx)
		get[corev1.ConfigMap](namespace, "shop-optional")(NewWithT(GinkgoT()), ctx)
	})

	It("comes though the graph has lost a node, whose object is left", func(ctx context.Context) { // R41 R61
		o := startSmall(ordered, func(b builder) { addConfigMap(b, "config"); addConfigMap(b, "lost") })
		create(ctx)
		o.stop()
		startSmall(ordered, func(b builder) { addConfigMap(b, "config") })
		end(ctx)
		get[corev1.ConfigMap](namespace, "shop-lost")(NewWithT(GinkgoT()), ctx)
	})

	It("is in order where that was asked for once", func(ctx context.Context) { // R17 R61
		declare := func(b builder) {
			secret := dependent.Generate[corev1.Secret](b, "secret", map[string]dependent.Generator{"a": dependent.RandomText(8)})
			addConfigMap(b, "config").DependsOn(secret)
		}
		o := startSmall(ordered, declare)
		create(ctx)
		o.stop()
		Expect(suite.client.Delete(ctx, app)).To(Succeed())
		o = startSmall(reconciler.Options[*v1.WebApp]{}, declare)
		eventuallyGone(ctx, app)
		Expect(resources(o.requests.Since(0).Where(isDelete))).To(Equal([]string{"configmaps", "secrets"}))
		expectNothingLeft(ctx, app)
	})
})

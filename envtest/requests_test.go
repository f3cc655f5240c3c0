// SPDX-License-Identifier: Apache-2.0

package envtest_test

import (
	"sync"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/espalier-dev/espalier/envtest"
)

func TestRequestsAreCountedExactly(t *testing.T) {
	env := shared.core.get(t)
	g := NewWithT(t)
	var requests envtest.Requests
	c := newClient(t, requests.Wrap(env.Config()))
	namespace := newNamespace(t, newClient(t, env.Config()))
	config := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "a"}}
	widget := newWidget(namespace, "a")
	// The first requests for a kind look up its resource.
	g.Expect(c.Create(t.Context(), config)).To(Succeed())
	g.Expect(c.Create(t.Context(), widget)).To(Succeed())
	g.Expect(requests.Since(0).Counts()).To(HaveKeyWithValue("create widgets.test.espalier.dev", 1))

	count := func(call func() error, want map[string]int) {
		t.Helper()
		mark := requests.Mark()
		g.Expect(call()).To(Succeed())
		g.Expect(requests.Since(mark).Counts()).To(Equal(want))
	}
	key := client.ObjectKeyFromObject(config)
	status := []byte(`{"apiVersion":"test.espalier.dev/v1","kind":"Widget","metadata":{"name":"a"},"status":{}}`)
	count(func() error { return c.Get(t.Context(), key, config) }, map[string]int{"get configmaps": 1})
	count(func() error { return c.List(t.Context(), &corev1.ConfigMapList{}) }, map[string]int{"list configmaps": 1})
	count(func() error { return c.Update(t.Context(), config) }, map[string]int{"update configmaps": 1})
	count(func() error {
		return c.Status().Patch(t.Context(), widget, client.RawPatch(types.ApplyPatchType, status), client.FieldOwner("me"))
	}, map[string]int{"apply widgets.test.espalier.dev/status": 1})
	count(func() error {
		return c.Patch(t.Context(), config, client.RawPatch(types.MergePatchType, []byte(`{"data":{"a":"b"}}`)))
	}, map[string]int{"patch configmaps": 1})
	count(func() error { return c.Delete(t.Context(), config) }, map[string]int{"delete configmaps": 1})
	count(func() error {
		return c.DeleteAllOf(t.Context(), config, client.InNamespace(namespace))
	}, map[string]int{"deletecollection configmaps": 1})
}

func TestRequestsOfManyClientsAtOnce(t *testing.T) {
	var requests envtest.Requests
	var clients sync.WaitGroup
	const each = 50
	for range 4 {
		clients.Go(func() {
			for range each {
				send(t, &requests, "GET /api/v1/pods")
				requests.Since(requests.Mark())
			}
		})
	}
	clients.Wait()
	NewWithT(t).Expect(requests.Since(0).Counts()).To(Equal(map[string]int{"list pods": 4 * each}))
}

func TestRequestLog(t *testing.T) {
	var requests envtest.Requests
	for _, line := range []string{
		"PUT /apis/coordination.k8s.io/v1/namespaces/n/leases/leader",
		"GET /api/v1/pods?watch=true",
		"GET /api/v1/pods",
		"GET /api/v1/pods",
		"DELETE /api/v1/namespaces/n/pods/p",
	} {
		send(t, &requests, line)
	}
	g := NewWithT(t)
	log := requests.Since(0)
	g.Expect(log.Foreground().String()).To(Equal("     1  delete pods\n     2  list pods"))
	g.Expect(log.Where(envtest.Request.Write).Counts()).To(Equal(map[string]int{
		"update leases.coordination.k8s.io": 1, "delete pods": 1,
	}))
	g.Expect(requests.Since(3).Counts()).To(Equal(map[string]int{"list pods": 1, "delete pods": 1}))
	g.Expect(requests.Since(requests.Mark())).To(BeEmpty())
	g.Expect(requests.Since(requests.Mark() + 1)).To(BeEmpty())
	g.Expect(requests.Since(-1)).To(Equal(log))
}

func TestWrapLeavesItsArgument(t *testing.T) {
	var requests envtest.Requests
	cfg := shared.core.get(t).Config()
	requests.Wrap(cfg)
	g := NewWithT(t)
	g.Expect(newClient(t, cfg).List(t.Context(), &corev1.NodeList{})).To(Succeed())
	g.Expect(requests.Since(0)).To(BeEmpty())
}

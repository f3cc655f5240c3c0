// SPDX-License-Identifier: Apache-2.0

package envtest_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/espalier-dev/espalier/envtest"
)

func TestExpectNoRequestsWithAnInformer(t *testing.T) {
	g := NewWithT(t)
	var requests envtest.Requests
	cfg := requests.Wrap(shared.core.get(t).Config())
	informers, err := cache.New(cfg, cache.Options{})
	g.Expect(err).NotTo(HaveOccurred())
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- informers.Start(ctx) }()
	defer func() {
		cancel()
		g.Expect(<-ended).To(Succeed())
	}()
	g.Expect(informers.WaitForCacheSync(ctx)).To(BeTrue())
	g.Expect(informers.List(ctx, &corev1.ConfigMapList{})).To(Succeed())
	g.Expect(requests.Since(0).Counts()).To(HaveKeyWithValue("watch configmaps", 1))

	g.Expect(envtest.ExpectNoRequests(ctx, &requests, time.Second)).To(Succeed())

	c := newClient(t, cfg)
	key := client.ObjectKey{Namespace: "default", Name: "absent"}
	stop := make(chan struct{})
	result := make(chan error, 1)
	go func() {
		result <- envtest.ExpectNoRequests(ctx, &requests, time.Second)
		close(stop)
	}()
	for open := true; open; {
		_ = c.Get(ctx, key, &corev1.ConfigMap{})
		select {
		case <-stop:
			open = false
		default:
		}
	}
	g.Expect(<-result).To(MatchError(
		ContainSubstring("get configmaps default/absent (GET /api/v1/namespaces/default/configmaps/absent)")))
}

func TestExpectNoRequestsListsThemAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var requests envtest.Requests
		send(t, &requests, "GET /api/v1/pods")
		go func() {
			time.Sleep(100 * time.Millisecond)
			send(t, &requests, "GET /api/v1/pods?watch=true")
			send(t, &requests, "PUT /apis/coordination.k8s.io/v1/namespaces/n/leases/leader")
			send(t, &requests, "PATCH /api/v1/namespaces/n/pods/p application/apply-patch+yaml")
			time.Sleep(200 * time.Millisecond)
			send(t, &requests, "GET /apis")
		}()
		g := NewWithT(t)
		g.Expect(envtest.ExpectNoRequests(t.Context(), &requests, time.Second)).To(MatchError(
			"got 2 requests within 1s, want none:\n" +
				"\t+100ms apply pods n/p (PATCH /api/v1/namespaces/n/pods/p)\n" +
				"\t+300ms get /apis (GET /apis)"))
		g.Expect(envtest.ExpectNoRequests(t.Context(), &requests, time.Second)).To(Succeed())
	})
}

func TestExpectNoRequestsProvesNothingWhenInterrupted(t *testing.T) {
	var requests envtest.Requests
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := envtest.ExpectNoRequests(ctx, &requests, time.Hour)
	NewWithT(t).Expect(err).To(MatchError(context.Canceled))
}

// SPDX-License-Identifier: Apache-2.0

package envtest_test

import (
	"net/url"
	"os"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/discovery"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/espalier-dev/espalier/envtest"
)

func TestAPIServerIsOnLoopback(t *testing.T) {
	g := NewWithT(t)
	host, err := url.Parse(shared.core.get(t).Config().Host)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(host.Scheme).To(Equal("https"))
	g.Expect(host.Hostname()).To(Equal("127.0.0.1"))
}

func TestAPIServerHasTheVersion(t *testing.T) {
	if os.Getenv("KUBEBUILDER_ASSETS") != "" {
		t.Skip("the programs are somebody else's")
	}
	g := NewWithT(t)
	server, err := discovery.NewDiscoveryClientForConfig(shared.core.get(t).Config())
	g.Expect(err).NotTo(HaveOccurred())
	version, err := server.ServerVersion()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(version.GitVersion).To(Equal(envtest.KubernetesVersion))
}

func TestDefaultNamespaceIsThere(t *testing.T) {
	c := newClient(t, shared.core.get(t).Config())
	key := client.ObjectKey{Name: "default"}
	NewWithT(t).Expect(c.Get(t.Context(), key, &corev1.Namespace{})).To(Succeed())
}

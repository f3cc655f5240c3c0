// SPDX-License-Identifier: Apache-2.0

package reconciler_test

import (
	"context"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/espalier-dev/espalier/envtest"
)

func TestReconciler(t *testing.T) {
	RegisterFailHandler(Fail)
	SetDefaultEventuallyTimeout(time.Minute)
	EnforceDefaultTimeoutsWhenUsingContexts()
	SetDefaultEventuallyPollingInterval(50 * time.Millisecond)
	RunSpecs(t, "reconciler")
}

// suite is the control plane that all specs share, and a client that may do everything.
var suite struct {
	env    *envtest.Environment
	client client.Client
}

var _ = BeforeSuite(func(ctx context.Context) {
	ctrl.SetLogger(GinkgoLogr)
	var err error
	suite.env, err = envtest.Start(ctx, envtest.Options{
		Controllers: true, CRDPaths: []string{"../examples/webapp/config/crd"},
	})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() error { return suite.env.Stop() })
	suite.client, err = client.New(suite.env.Config(), client.Options{Scheme: newScheme()})
	Expect(err).NotTo(HaveOccurred())
	grantRole(ctx)
}, NodeTimeout(3*time.Minute))

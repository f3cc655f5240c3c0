// SPDX-License-Identifier: Apache-2.0

package envtest_test

import (
	"context"
	"sync"
	"testing"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/espalier-dev/espalier/envtest"
)

// sharedEnvironment is started once.
type sharedEnvironment struct {
	options envtest.Options
	once    sync.Once
	env     *envtest.Environment
	err     error
}

// get returns the running environment.
func (s *sharedEnvironment) get(t *testing.T) *envtest.Environment {
	t.Helper()
	needsControlPlane(t)
	s.once.Do(func() { s.env, s.err = envtest.Start(context.Background(), s.options) })
	if s.err != nil {
		t.Fatal(s.err)
	}
	return s.env
}

// needsControlPlane leaves a test out of short runs.
func needsControlPlane(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("needs a control plane")
	}
}

func newClient(t *testing.T, cfg *rest.Config) client.Client {
	t.Helper()
	c, err := client.New(cfg, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// SPDX-License-Identifier: Apache-2.0

package dependent_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"sync"
	"testing"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/espalier-dev/espalier/envtest"
)

// suite is the control plane that all tests share, started by the first that needs it. It has no controllers: what
// happens to an object is what a test does.
type suite struct {
	once sync.Once
	env  *envtest.Environment
	err  error
}

var shared suite

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard) // informers complain when a test ends
	code := m.Run()
	if shared.env != nil {
		if err := shared.env.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, "stopping the control plane:", err)
			code = 1
		}
	}
	os.Exit(code)
}

// get returns the running control plane.
func (s *suite) get(tb testing.TB) *envtest.Environment {
	tb.Helper()
	if testing.Short() {
		tb.Skip("needs a control plane")
	}
	s.once.Do(func() {
		s.env, s.err = envtest.Start(context.Background(), envtest.Options{
			CRDPaths: []string{"testdata/crd", "../examples/webapp/config/crd"},
		})
	})
	if s.err != nil {
		tb.Fatal(s.err)
	}
	return s.env
}

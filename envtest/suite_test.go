// SPDX-License-Identifier: Apache-2.0

package envtest_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/go-logr/logr"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/espalier-dev/espalier/envtest"
)

// suite holds the control planes that tests share, each started by the first test that needs it.
type suite struct {
	core        sharedEnvironment // etcd and kube-apiserver
	controllers sharedEnvironment
}

var shared = &suite{
	core: sharedEnvironment{options: envtest.Options{
		CRDPaths: []string{"testdata/crds"},
		CRDs:     []*apiextensionsv1.CustomResourceDefinition{gadgetCRD()},
	}},
	controllers: sharedEnvironment{options: envtest.Options{
		Controllers: true,
		Nodes:       2,
		CRDPaths:    []string{"testdata/crds/widgets.yaml"},
	}},
}

func TestMain(m *testing.M) {
	if os.Getenv(childVariable) != "" {
		child()
		return
	}
	log.SetLogger(logr.Discard())
	code := m.Run()
	for _, s := range []*sharedEnvironment{&shared.core, &shared.controllers} {
		if s.env == nil {
			continue
		}
		if err := s.env.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, "stopping a shared control plane:", err)
			code = 1
		}
	}
	os.Exit(code)
}

// SPDX-License-Identifier: Apache-2.0

package envtest_test

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/espalier-dev/espalier/envtest"
)

// controlPlaneModule is the folder of the module that pins the versions.
const controlPlaneModule = "../hack/controlplane"

func TestVersionsAreThePinnedOnes(t *testing.T) {
	goMod, err := os.ReadFile(filepath.Join(controlPlaneModule, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	g := NewWithT(t)
	for module, version := range map[string]string{
		"k8s.io/kubernetes":         envtest.KubernetesVersion,
		"go.etcd.io/etcd/server/v3": envtest.EtcdVersion,
		"sigs.k8s.io/kwok":          envtest.KWOKVersion,
	} {
		g.Expect(string(goMod)).To(MatchRegexp(`(?m)^\t%s %s( |$)`, module, version),
			"change the constant in versions.go together with go.mod")
	}
}

func TestCacheFolderIsWhereTheProgramsAreBuilt(t *testing.T) {
	for _, root := range []string{"", t.TempDir()} {
		t.Setenv("ESPALIER_CACHE", root)
		got, err := envtest.CacheFolder(os.Getenv, os.UserCacheDir, runtime.GOOS+"-"+runtime.GOARCH)
		NewWithT(t).Expect(got, err).To(Equal(realPrograms(t)))
	}
}

func TestCacheFolderIsAbsolute(t *testing.T) {
	t.Setenv("ESPALIER_CACHE", "here")
	_, err := envtest.Start(t.Context(), envtest.Options{})
	NewWithT(t).Expect(err).To(MatchError(ContainSubstring("set it to an absolute path")))
}

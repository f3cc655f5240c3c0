// SPDX-License-Identifier: Apache-2.0

package envtest_test

import (
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/espalier-dev/espalier/envtest"
)

func TestMissingBinaries(t *testing.T) {
	const advice = `: build the control plane with "make controlplane" in Espalier's repository, ` +
		"or set KUBEBUILDER_ASSETS to a folder that has them"
	tests := []struct {
		name        string
		scripts     map[string]string // in KUBEBUILDER_ASSETS, which isn't set if nil
		controllers bool
		want        string // with ASSETS and CACHE for the folders
	}{
		{
			name: "without KUBEBUILDER_ASSETS the cache is looked at",
			want: "no etcd, kube-apiserver in $CACHE",
		},
		{
			name:    "etcd and kube-apiserver come from KUBEBUILDER_ASSETS alone",
			scripts: map[string]string{"etcd": ""},
			want:    "no kube-apiserver in $ASSETS",
		},
		{
			name:        "the others come from either",
			scripts:     map[string]string{"etcd": "", "kube-apiserver": "", "kube-scheduler": ""},
			controllers: true,
			want:        "no kube-controller-manager, kwok, KWOK's stages in $ASSETS and $CACHE",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			root, folder := t.TempDir(), ""
			t.Setenv("ESPALIER_CACHE", root)
			t.Setenv("KUBEBUILDER_ASSETS", "")
			if tt.scripts != nil {
				folder = assets(t, tt.scripts)
			}
			_, err := envtest.Start(t.Context(), envtest.Options{Controllers: tt.controllers})
			want := os.Expand(tt.want, func(name string) string {
				if name == "ASSETS" {
					return folder
				}
				return filepath.Join(root, "controlplane", filepath.Base(realPrograms(t)))
			})
			NewWithT(t).Expect(err).To(MatchError("starting a control plane: " + want + advice))
		})
	}
}

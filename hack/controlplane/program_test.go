// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"
)

func TestProgramsAreStamped(t *testing.T) {
	want := map[string]string{
		"kube-apiserver":          "-X k8s.io/component-base/version.gitVersion=v1.2.3",
		"kube-controller-manager": "-X k8s.io/component-base/version.gitMajor=1",
		"kube-scheduler":          "-X k8s.io/component-base/version.gitMinor=2",
		"kwok":                    "-X sigs.k8s.io/kwok/pkg/consts.Version=0.6.7",
		"etcd":                    "-s -w",
	}
	programs := testPins().programs()
	if len(programs) != len(want) {
		t.Fatalf("programs() has %d entries, want %d", len(programs), len(want))
	}
	for _, p := range programs {
		if got := p.ldflags(); !strings.HasPrefix(got, "-s -w") || !strings.Contains(got, want[p.name]) {
			t.Errorf("ldflags() of %s = %q, want it to have %q", p.name, got, want[p.name])
		}
	}
}

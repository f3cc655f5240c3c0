// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strings"
)

// program is one binary of the control plane.
type program struct {
	name    string // the file's name in the cache
	pkg     string // the main package
	version string
	stamp   []string // variables to set at link time, as "import/path.name=value"
}

// String names the program in messages.
func (p program) String() string { return p.name + " " + p.version }

// ldflags is the value of go build's flag of that name: no symbol table, and the version in it.
func (p program) ldflags() string {
	var b strings.Builder
	b.WriteString("-s -w")
	for _, variable := range p.stamp {
		b.WriteString(" -X " + variable)
	}
	return b.String()
}

// programs lists what is built, smallest first, so that a broken set-up shows early.
func (p pins) programs() []program {
	kubernetes := func(name string) program {
		return program{
			name:    name,
			pkg:     kubernetesModule + "/cmd/" + name,
			version: p.kubernetes,
			stamp:   kubernetesStamp(p.kubernetes),
		}
	}
	return []program{
		{name: "etcd", pkg: etcdModule, version: p.etcd},
		kubernetes("kube-apiserver"),
		kubernetes("kube-controller-manager"),
		kubernetes("kube-scheduler"),
		{
			name:    "kwok",
			pkg:     kwokModule + "/cmd/kwok",
			version: p.kwok,
			stamp:   []string{kwokModule + "/pkg/consts.Version=" + strings.TrimPrefix(p.kwok, "v")},
		},
	}
}

// kubernetesStamp sets what Kubernetes' release build sets: the programs report it as their version and in their
// user agents. Commit and date are constant, so that equal sources give equal binaries.
func kubernetesStamp(version string) []string {
	major, rest, _ := strings.Cut(strings.TrimPrefix(version, "v"), ".")
	minor, _, _ := strings.Cut(rest, ".")
	values := [][2]string{
		{"gitVersion", version},
		{"gitMajor", major},
		{"gitMinor", minor},
		{"gitTreeState", "clean"},
		{"gitCommit", "unknown"},
		{"buildDate", "1970-01-01T00:00:00Z"},
	}
	var stamp []string
	for _, pkg := range []string{"k8s.io/component-base/version", "k8s.io/client-go/pkg/version"} {
		for _, v := range values {
			stamp = append(stamp, fmt.Sprintf("%s.%s=%s", pkg, v[0], v[1]))
		}
	}
	return stamp
}

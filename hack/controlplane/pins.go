// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
)

// The modules whose versions decide what is built.
const (
	etcdModule       = "go.etcd.io/etcd/server/v3"
	kubernetesModule = "k8s.io/kubernetes"
	kwokModule       = "sigs.k8s.io/kwok"
)

// pins are the versions that go.mod requires, each with its leading "v".
type pins struct {
	kubernetes, etcd, kwok string
}

// readPins takes the pinned versions from the text of go.mod.
func readPins(goMod string) (pins, error) {
	required := requirements(goMod)
	p := pins{kubernetes: required[kubernetesModule], etcd: required[etcdModule], kwok: required[kwokModule]}
	var missing []error
	for _, module := range []string{kubernetesModule, etcdModule, kwokModule} {
		if required[module] == "" {
			missing = append(missing, fmt.Errorf("go.mod doesn't require %s: add it with \"go get\"", module))
		}
	}
	return p, errors.Join(missing...)
}

// requirements reads the require lines of a go.mod, alone or in blocks.
func requirements(goMod string) map[string]string {
	versions := map[string]string{}
	inBlock := false
	for line := range strings.Lines(goMod) {
		line, _, _ = strings.Cut(line, "//")
		fields := strings.Fields(line)
		switch {
		case len(fields) == 0:
		case fields[0] == ")":
			inBlock = false
		case inBlock && len(fields) == 2:
			versions[fields[0]] = fields[1]
		case fields[0] == "require" && len(fields) == 2 && fields[1] == "(":
			inBlock = true
		case fields[0] == "require" && len(fields) == 3:
			versions[fields[1]] = fields[2]
		}
	}
	return versions
}

// key names the cache folder of these versions on a platform. The package envtest computes the same name.
func (p pins) key(goos, goarch string) string {
	return fmt.Sprintf("kubernetes-%s-etcd-%s-kwok-%s-%s-%s", p.kubernetes, p.etcd, p.kwok, goos, goarch)
}

// folder is the cache folder of these versions on a platform, below the root of all caches.
func (p pins) folder(root, goos, goarch string) string {
	return filepath.Join(root, "controlplane", p.key(goos, goarch))
}

// cacheRoot is the folder of everything that Espalier caches for this user.
func cacheRoot(getenv func(string) string, userCacheDir func() (string, error)) (string, error) {
	if root := getenv("ESPALIER_CACHE"); root != "" {
		if !filepath.IsAbs(root) {
			return "", fmt.Errorf("ESPALIER_CACHE is %q: set it to an absolute path", root)
		}
		return filepath.Clean(root), nil
	}
	dir, err := userCacheDir()
	if err != nil {
		return "", fmt.Errorf("locating the user's cache: %w: set ESPALIER_CACHE to an absolute path", err)
	}
	return filepath.Join(dir, "espalier"), nil
}

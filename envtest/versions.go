// SPDX-License-Identifier: Apache-2.0

package envtest

import (
	"fmt"
	"path/filepath"
)

// The versions of the programs in the cache, as hack/controlplane/go.mod pins them: a module that uses this package
// can't read that file. A test compares the two.
const (
	kubernetesVersion = "v1.37.2"
	etcdVersion       = "v3.7.0"
	kwokVersion       = "v0.8.0"
)

// cacheFolder is where hack/controlplane puts the programs of a platform. It computes the same path; a test compares
// the two.
func cacheFolder(getenv func(string) string, userCacheDir func() (string, error), platform string) (string, error) {
	key := fmt.Sprintf("kubernetes-%s-etcd-%s-kwok-%s-%s", kubernetesVersion, etcdVersion, kwokVersion, platform)
	if root := getenv("ESPALIER_CACHE"); root != "" {
		if !filepath.IsAbs(root) {
			return "", fmt.Errorf("ESPALIER_CACHE is %q: set it to an absolute path", root)
		}
		return filepath.Join(root, "controlplane", key), nil
	}
	root, err := userCacheDir()
	if err != nil {
		return "", fmt.Errorf("locating the user's cache: %w: set ESPALIER_CACHE to an absolute path", err)
	}
	return filepath.Join(root, "espalier", "controlplane", key), nil
}

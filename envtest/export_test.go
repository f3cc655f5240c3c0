// SPDX-License-Identifier: Apache-2.0

package envtest

// What the external tests look at.
const (
	KubernetesVersion = kubernetesVersion
	EtcdVersion       = etcdVersion
	KWOKVersion       = kwokVersion
)

// CacheFolder is cacheFolder.
func CacheFolder(getenv func(string) string, userCacheDir func() (string, error), platform string) (string, error) {
	return cacheFolder(getenv, userCacheDir, platform)
}

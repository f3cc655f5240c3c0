// SPDX-License-Identifier: Apache-2.0

package envtest

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// assetsVariable names the folder that comes before the cache.
const assetsVariable = "KUBEBUILDER_ASSETS"

// The programs, by their files' names.
const (
	etcdName              = "etcd"
	apiServerName         = "kube-apiserver"
	controllerManagerName = "kube-controller-manager"
	schedulerName         = "kube-scheduler"
	kwokName              = "kwok"
)

// stagesName is the folder of KWOK's stage files, beside the programs.
const stagesName = "stages"

// binaries are the files that a control plane is made of: absolute paths by program, and KWOK's stages.
type binaries struct {
	paths  map[string]string
	stages []string
}

// findBinaries looks up the programs. With a folder in KUBEBUILDER_ASSETS etcd and kube-apiserver come from there,
// and the others if they are there; what is left comes from the cache.
func findBinaries(controllers bool) (binaries, error) {
	cache, err := cacheFolder(os.Getenv, os.UserCacheDir, runtime.GOOS+"-"+runtime.GOARCH)
	if err != nil {
		return binaries{}, err
	}
	core, extra := []string{cache}, []string{cache}
	if assets := os.Getenv(assetsVariable); assets != "" {
		assets, err := filepath.Abs(assets)
		if err != nil {
			return binaries{}, fmt.Errorf("locating the folder in %s: %w", assetsVariable, err)
		}
		core, extra = []string{assets}, []string{assets, cache}
	}

	search := &binarySearch{found: binaries{paths: map[string]string{}}}
	search.programs(core, etcdName, apiServerName)
	if controllers {
		search.programs(extra, controllerManagerName, schedulerName, kwokName)
		search.stages(extra)
	}
	return search.found, search.err()
}

// binarySearch collects what was found and what wasn't.
type binarySearch struct {
	found   binaries
	missing []string
	folders []string // where the missing were looked for
}

// programs looks for programs in the folders, in their order.
func (s *binarySearch) programs(folders []string, names ...string) {
	for _, name := range names {
		for _, folder := range folders {
			path := filepath.Join(folder, name)
			if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
				s.found.paths[name] = path
				break
			}
		}
		if s.found.paths[name] == "" {
			s.missing = append(s.missing, name)
			s.folders = folders
		}
	}
}

// stages takes KWOK's stages from the first folder that has some.
func (s *binarySearch) stages(folders []string) {
	for _, folder := range folders {
		files, err := filepath.Glob(filepath.Join(folder, stagesName, "*.yaml"))
		if err == nil && len(files) > 0 {
			s.found.stages = files
			return
		}
	}
	s.missing = append(s.missing, "KWOK's "+stagesName)
	s.folders = folders
}

// err is one sentence about what is missing, or nil.
func (s *binarySearch) err() error {
	if len(s.missing) == 0 {
		return nil
	}
	return fmt.Errorf("no %s in %s: build the control plane with \"make controlplane\" in Espalier's repository, "+
		"or set %s to a folder that has them",
		strings.Join(s.missing, ", "), strings.Join(s.folders, " and "), assetsVariable)
}

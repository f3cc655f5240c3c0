// SPDX-License-Identifier: Apache-2.0

// Command controlplane builds the programs of a Kubernetes control plane for tests: etcd, kube-apiserver,
// kube-controller-manager, kube-scheduler and KWOK, which simulates nodes.
//
// The programs come from their Go modules, in the versions that this module's go.mod requires: that file is the one
// place where they are pinned. They land in a cache folder outside the repository, keyed by version and platform,
// beside the stage files that KWOK reads at run time. The folder is os.UserCacheDir()/espalier/controlplane/KEY; the
// variable ESPALIER_CACHE, an absolute path, replaces os.UserCacheDir()/espalier.
//
// The first build compiles about four thousand packages and takes many minutes; later runs find everything in place
// and say so. A build that was interrupted goes on where it stopped, and of two builds at once the second waits.
//
// Usage, from this folder:
//
//	go run .          build what is missing
//	go run . -print   print the cache folder, build nothing
package main

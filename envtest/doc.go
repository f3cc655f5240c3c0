// SPDX-License-Identifier: Apache-2.0

// Package envtest is a Kubernetes control plane for tests, and the test kit of operators built with Espalier.
//
// [Start] runs a real etcd and kube-apiserver on loopback; [Options].Controllers adds the real controller manager, the
// real scheduler and simulated nodes, so that Deployments become available, Jobs complete, and garbage collection and
// namespace deletion work, without kubelets or containers. [Requests] counts what a client sends, and
// [ExpectNoRequests] proves that it sends nothing.
//
// What it guarantees:
//
//   - Start returns when everything that was asked for is healthy, or says which program failed and its last words.
//   - Nothing outlives the test process, however that ends: no process, no folder.
//   - Any number of environments may run at once, in one process or many.
//
// Smallest use:
//
//	env, err := envtest.Start(ctx, envtest.Options{CRDPaths: []string{"config/crd"}})
//	// …
//	defer env.Stop()
//	c, err := client.New(env.Config(), client.Options{})
//
// The programs come from the folder in KUBEBUILDER_ASSETS, else from the cache that Espalier's "make controlplane"
// fills. The package wraps controller-runtime's package of the same name: import this one only. There are no
// volumes, no container logs and no network behind Services. It needs a POSIX shell.
package envtest

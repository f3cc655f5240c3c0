// SPDX-License-Identifier: Apache-2.0

package envtest

import (
	"context"
	"errors"
	"fmt"
	"io"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// Options say what a control plane consists of. The zero value is etcd and kube-apiserver.
type Options struct {
	// Controllers adds kube-controller-manager, kube-scheduler and simulated nodes, and turns the admission of
	// service accounts on. The controllers are as in any cluster: they begin to empty a deleted namespace after
	// five seconds. Default: kube-apiserver only, where nothing reacts to objects and owner references delete
	// nothing.
	Controllers bool

	// Nodes is the number of simulated nodes, node-0 and so on, each with plenty of everything. Default with
	// Controllers: 1. Without Controllers there are none.
	Nodes int

	// CRDPaths are files and folders with CustomResourceDefinitions in YAML or JSON. Default: none.
	CRDPaths []string

	// CRDs are further definitions; they are copied. Default: none. Definitions from either field are known to the
	// garbage collector from the start; it discovers those that are created later only within half a minute.
	CRDs []*apiextensionsv1.CustomResourceDefinition

	// Output receives the programs' logs line by line, each line with its program's name. It needn't be safe for
	// concurrent use. Default: discarded; errors show the last lines anyway.
	Output io.Writer
}

// Start runs a control plane and returns when everything that o asks for is healthy: programs, definitions, nodes.
// When ctx ends before, it returns the context's cause and leaves nothing behind; afterwards ctx is of no
// importance. The caller calls [Environment.Stop].
func Start(ctx context.Context, o Options) (*Environment, error) {
	if o.Nodes < 0 || o.Nodes > 0 && !o.Controllers {
		return nil, fmt.Errorf("starting a control plane with %d nodes: set Controllers, or Nodes to zero", o.Nodes)
	}
	found, err := findBinaries(o.Controllers)
	if err != nil {
		return nil, fmt.Errorf("starting a control plane: %w", err)
	}
	e, err := start(ctx, o, found)
	var failed *programError
	if errors.As(err, &failed) && failed.portTaken() {
		// Another process was faster; it is hardly so twice.
		e, err = start(ctx, o, found)
	}
	if err != nil {
		return nil, err
	}
	return e, nil
}

// start makes one attempt.
func start(ctx context.Context, o Options, found binaries) (_ *Environment, err error) {
	crds, err := o.definitions()
	if err != nil {
		return nil, err
	}
	life, err := newLifeline()
	if err != nil {
		return nil, err
	}
	e := &Environment{life: life, logs: &logs{out: o.Output}, binaries: found}
	// controller-runtime's starts know no context: cutting the lifeline makes them fail.
	release := context.AfterFunc(ctx, func() { _ = life.cut() })
	defer func() {
		if !release() {
			err = fmt.Errorf("starting a control plane: %w", context.Cause(ctx))
		}
		if err != nil {
			_ = e.Stop()
		}
	}()

	if err := e.startEtcd(); err != nil {
		return nil, err
	}
	if err := e.startAPIServer(ctx, o.Controllers); err != nil {
		return nil, err
	}
	if err := e.installCRDs(ctx, crds); err != nil {
		return nil, err
	}
	if o.Controllers {
		if err := e.startControllers(ctx, max(o.Nodes, 1)); err != nil {
			return nil, err
		}
	}
	return e, nil
}

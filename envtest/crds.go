// SPDX-License-Identifier: Apache-2.0

package envtest

import (
	"context"
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	crenvtest "sigs.k8s.io/controller-runtime/pkg/envtest"
)

// definitions reads and copies the CustomResourceDefinitions that the options ask for.
func (o Options) definitions() ([]*apiextensionsv1.CustomResourceDefinition, error) {
	read := crenvtest.CRDInstallOptions{Paths: o.CRDPaths, ErrorIfPathMissing: true}
	if err := crenvtest.ReadCRDFiles(&read); err != nil {
		return nil, fmt.Errorf("reading CustomResourceDefinitions: %w", err)
	}
	crds := read.CRDs
	for _, crd := range o.CRDs {
		crds = append(crds, crd.DeepCopy())
	}
	return crds, nil
}

// installCRDs creates the definitions and waits until their kinds are served.
func (e *Environment) installCRDs(ctx context.Context, crds []*apiextensionsv1.CustomResourceDefinition) error {
	if len(crds) == 0 {
		return nil
	}
	if err := crenvtest.CreateCRDs(e.Config(), crds); err != nil {
		return fmt.Errorf("installing CustomResourceDefinitions: %w", err)
	}
	return await(ctx, "CustomResourceDefinitions to be served", func(ctx context.Context) error {
		// A new client each time, as a client remembers what it has discovered.
		c, err := client.New(e.Config(), client.Options{})
		if err != nil {
			return err
		}
		for _, crd := range crds {
			if err := served(ctx, c, crd); err != nil {
				return err
			}
		}
		return nil
	})
}

// served lists objects of every served version. That succeeds when discovery, which clients rely on, knows the kind,
// and its storage is ready: for a moment after a definition is established the server answers "too many requests".
func served(ctx context.Context, c client.Client, crd *apiextensionsv1.CustomResourceDefinition) error {
	for _, version := range crd.Spec.Versions {
		if !version.Served {
			continue
		}
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(schema.GroupVersionKind{
			Group: crd.Spec.Group, Version: version.Name, Kind: crd.Spec.Names.Kind + "List",
		})
		if err := c.List(ctx, list, client.Limit(1)); err != nil {
			return err
		}
	}
	return nil
}

// SPDX-License-Identifier: Apache-2.0

// Package v1 is the API of the example operator: the custom resource WebApp, a web application with its settings, its
// database and what exposes it.
//
// The CRD in config/crd and the deep copies are generated from these types by "make generate". Defaults are the API
// server's, so an operator that reads a WebApp finds them filled in. The package depends on apimachinery only: a client
// of the operator imports it without its dependencies.
//
// +kubebuilder:object:generate=true
// +groupName=webapp.example.espalier.dev
package v1

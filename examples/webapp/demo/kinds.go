// SPDX-License-Identifier: Apache-2.0

package main

import "github.com/espalier-dev/espalier/envtest"

// kind is something that the operator writes.
type kind struct{ name, resource string }

// kinds have the names that kubectl takes; what is written to a WebApp itself is its finalizer or its status.
func kinds() []kind {
	return []kind{
		{"cm", "configmaps"},
		{"secret", "secrets"},
		{"svc", "services"},
		{"sts", "statefulsets"},
		{"job", "jobs"},
		{"deploy", "deployments"},
		{"ing", "ingresses"},
		{"hpa", "horizontalpodautoscalers"},
		{"finalizer", "webapps"},
		{"status", "webapps/status"},
	}
}

// nameOf is the name of what a request is about.
func nameOf(r envtest.Request) string {
	resource := r.Resource
	if r.Subresource != "" {
		resource += "/" + r.Subresource
	}
	for _, k := range kinds() {
		if k.resource == resource {
			return k.name
		}
	}
	return resource
}

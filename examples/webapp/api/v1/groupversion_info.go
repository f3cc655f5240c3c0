// SPDX-License-Identifier: Apache-2.0

package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

const (
	// Group is the API group of WebApp.
	Group = "webapp.example.espalier.dev"
	// Version is the version of the API group in this package.
	Version = "v1"
	// Kind is the kind of [WebApp].
	Kind = "WebApp"
)

// GroupVersion returns the group and version of the types in this package.
func GroupVersion() schema.GroupVersion {
	return schema.GroupVersion{Group: Group, Version: Version}
}

// AddToScheme registers the types of this package. Its error is always nil; it has one to be used like other
// packages' functions of that name.
func AddToScheme(s *runtime.Scheme) error {
	s.AddKnownTypes(GroupVersion(), &WebApp{}, &WebAppList{})
	metav1.AddToGroupVersion(s, GroupVersion())
	return nil
}

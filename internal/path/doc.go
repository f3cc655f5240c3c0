// SPDX-License-Identifier: Apache-2.0

// Package path names fields of objects, as authors write them in policies: spec.replicas,
// metadata.annotations[example.com/color], spec.template.spec.containers[name=web].image.
package path

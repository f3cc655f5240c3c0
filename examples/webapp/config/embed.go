// SPDX-License-Identifier: Apache-2.0

// Package config is the operator's configuration as files, for programs that bring it along.
package config

import (
	"embed"
	"io/fs"
)

//go:embed crd rbac samples
var files embed.FS

// Files are the definition, the roles and the samples, under their paths in this folder.
func Files() fs.FS { return files }

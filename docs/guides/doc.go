// SPDX-License-Identifier: Apache-2.0

// Package guides has the code of the guides beside it, so that it is compiled. TestGuides checks that each block of
// Go in them is a part of it, or of another file of the repository.
package guides

import (
	v1 "github.com/espalier-dev/espalier/examples/webapp/api/v1"
	"github.com/espalier-dev/espalier/workflow"
)

type run = *workflow.Run[*v1.WebApp]

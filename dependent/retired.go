// SPDX-License-Identifier: Apache-2.0

package dependent

import (
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/espalier-dev/espalier/workflow"
)

// Retired declares that the graph had a node of this name before, group prefixes included, and that its objects of
// type T are to go, in every primary. Without it what such a node has left behind stays and is reported, since an
// older version of the operator may still want it. It is a node like any other that isn't wanted: policies say what
// may be deleted, and edges when; it can be taken out of the graph once every primary has been reconciled.
func Retired[T any, PT ObjectOf[T], P client.Object](b *workflow.Builder[P], name string) *Object[P, PT] {
	never := func(*workflow.Run[P], PT) (draft, error) { return draft{}, errNil }
	return declare(b, name, &objectKind[P, PT]{example: PT(new(T)), desired: never}).
		ReconcileWhen("retired", func(*workflow.Run[P]) workflow.Verdict {
			return workflow.Unmet("Retired", "the node is retired")
		})
}

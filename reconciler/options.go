// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/espalier-dev/espalier/dependent"
	"github.com/espalier-dev/espalier/workflow"
)

// Options of a [Reconciler]. The zero value works for typed primaries.
type Options[P client.Object] struct {
	// Name is the controller's, and its field manager's; default the workflow's name. It must stay the same for the
	// life of the operator.
	Name string
	// GroupVersionKind is the primary's kind; required if P is unstructured, otherwise found in the scheme.
	GroupVersionKind schema.GroupVersionKind
	// OrderedDeletion deletes everything in reverse order when the primary is deleted. By default what the garbage
	// collector can remove is left to it, which knows no order.
	OrderedDeletion bool
	// MaxConcurrentReconciles is how many primaries are reconciled at once; default 1.
	MaxConcurrentReconciles int
	// MaxConcurrentNodes is how many nodes of all primaries are executed at once; default 64.
	MaxConcurrentNodes int
	// Prefix begins finalizers and tracking labels; default "espalier.dev".
	Prefix string
	// FormerManagers, FormerFinalizers and FormerConditions are of the controller before this one, or of this one under
	// a former name. The fields that such a manager owns of an object that the primary has become ours, such a finalizer
	// is removed once it isn't needed or ours is there, and such a condition, by its type, goes with the next status.
	FormerManagers, FormerFinalizers, FormerConditions []string
	// Clusters returns the cluster of a name, for nodes with InCluster: see [dependent.EngineOptions].
	Clusters func(name string) (dependent.Target, error)
	// Summarize fills the author's own fields of the status into a blank primary. It is called at the end of each run
	// and may read every node with Lookup. Conditions and observedGeneration are filled in afterwards.
	Summarize func(r *workflow.Run[P], result *workflow.Result, into P)
	// OnResult is called after each run, for logs and displays; it must not block.
	OnResult func(primary P, result *workflow.Result)
}

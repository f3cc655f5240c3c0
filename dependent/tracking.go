// SPDX-License-Identifier: Apache-2.0

package dependent

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/espalier-dev/espalier/workflow"
)

// The labels by which an object is found again, behind the prefix.
const (
	workflowLabel = "workflow"
	nodeLabel     = "node"
	ownerLabel    = "owner"
)

func (e *Engine) label(name string) string { return e.options.Prefix + "/" + name }

// OwnerLabel returns the label under which every dependent carries the UID of its primary.
func (e *Engine) OwnerLabel() string { return e.label(ownerLabel) }

// tracking tells whose object an object is.
type tracking struct {
	owner          types.UID
	workflow, node string
}

func trackingOf[P client.Object](r *workflow.Run[P]) tracking {
	return tracking{owner: r.Primary().GetUID(), workflow: r.Workflow(), node: r.Node()}
}

func (t tracking) labels(e *Engine) map[string]string {
	return map[string]string{
		e.label(workflowLabel): t.workflow, e.label(nodeLabel): t.node, e.label(ownerLabel): string(t.owner),
	}
}

func (t tracking) index() string { return string(t.owner) + "/" + t.workflow + "/" + t.node }

// claim says whose an existing object is: nil if it is this node's, or the primary's and not tracked yet.
func (t tracking) claim(e *Engine, kind string, obj client.Object) error {
	l := obj.GetLabels()
	owner := types.UID(l[e.label(ownerLabel)])
	if owner == t.owner && l[e.label(workflowLabel)] == t.workflow && l[e.label(nodeLabel)] == t.node {
		return nil
	}
	controller, name := metav1.GetControllerOfNoCopy(obj), fmt.Sprintf("%s %q", kind, obj.GetName())
	switch {
	case owner == t.owner:
		return refuse("ClaimedBy", "%s is managed by node %q of workflow %q: give one of them another name",
			name, l[e.label(nodeLabel)], l[e.label(workflowLabel)])
	case owner != "":
		return refuse("NotOwned", "%s belongs to another primary, with UID %s: choose another name", name, owner)
	case controller != nil && controller.UID == t.owner:
		return nil // of an operator before this one
	case controller != nil:
		return refuse("NotOwned", "%s is controlled by %s %q: choose another name", name, controller.Kind, controller.Name)
	default:
		return refuse("NotOwned", "%s exists already and isn't this primary's: choose another name, or remove it", name)
	}
}

// wrote reports whether we have written an object that carries our labels. A copy of it that somebody made, labels
// included, is theirs. Where managed fields have been lost altogether the labels have to do.
func (e *Engine) wrote(obj client.Object) bool {
	managed := obj.GetManagedFields()
	return len(managed) == 0 || slices.ContainsFunc(managed, func(m metav1.ManagedFieldsEntry) bool {
		return m.Manager == e.options.FieldManager && m.Operation == metav1.ManagedFieldsOperationApply
	})
}

func refuse(reason, format string, args ...any) error {
	return workflow.Because(reason, fmt.Errorf(format, args...))
}

// ownerReference makes the primary the controller of an object that the garbage collector is to remove.
func (e *Engine) ownerReference(primary client.Object) map[string]any {
	apiVersion, kind := e.options.Primary.ToAPIVersionAndKind()
	return map[string]any{
		"apiVersion": apiVersion, "kind": kind, "name": primary.GetName(), "uid": string(primary.GetUID()),
		"controller": true, "blockOwnerDeletion": true,
	}
}

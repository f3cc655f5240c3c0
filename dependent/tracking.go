// SPDX-License-Identifier: Apache-2.0

package dependent

import (
	"crypto/sha256"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/espalier-dev/espalier/workflow"
)

// The labels by which an object is found again, behind the prefix.
const (
	workflowLabel = "workflow"
	nodeLabel     = "node"
	ownerLabel    = "owner"
	keyLabel      = "key"
)

func (e *Engine) label(name string) string { return e.options.Prefix + "/" + name }

// OwnerLabel returns the label under which every dependent carries the UID of its primary.
func (e *Engine) OwnerLabel() string { return e.label(ownerLabel) }

// tracking tells whose object an object is.
type tracking struct {
	owner          types.UID
	workflow, node string
	key            string // of the instance, if the node is repeated
}

func trackingOf[P client.Object](r *workflow.Run[P]) tracking {
	return tracking{owner: r.Primary().GetUID(), workflow: r.Workflow(), node: r.Node(), key: r.Key()}
}

func (t tracking) labels(e *Engine) map[string]string {
	all := map[string]string{
		e.label(workflowLabel): t.workflow, e.label(nodeLabel): t.node, e.label(ownerLabel): string(t.owner),
	}
	if t.key != "" {
		all[e.label(keyLabel)] = labelValue(t.key)
	}
	return all
}

// labelValue returns text as the value of a label: as it is if it may be one, else a digest of it.
func labelValue(text string) string {
	if len(validation.IsValidLabelValue(text)) == 0 {
		return text
	}
	return fmt.Sprintf("sha256-%x", sha256.Sum256([]byte(text)))[:maxLabelValue]
}

const maxLabelValue = 47 // 160 bits of the digest

// annotations hold what the labels can't.
func (t tracking) annotations(e *Engine) map[string]string {
	if labelValue(t.key) == t.key {
		return nil
	}
	return map[string]string{e.label(keyLabel): t.key}
}

// keyOf returns the key that an object was written for; an annotation that doesn't fit the label isn't ours.
func (e *Engine) keyOf(obj client.Object) string {
	label, full := obj.GetLabels()[e.label(keyLabel)], obj.GetAnnotations()[e.label(keyLabel)]
	if full != "" && labelValue(full) == label {
		return full
	}
	return label
}

// read returns the tracking of an object: its owner is "" if it has none.
func (e *Engine) read(obj client.Object) tracking {
	l := obj.GetLabels()
	return tracking{
		owner:    types.UID(l[e.label(ownerLabel)]),
		workflow: l[e.label(workflowLabel)], node: l[e.label(nodeLabel)], key: e.keyOf(obj),
	}
}

// index is under what the objects of a node are found, whatever their keys; instance is for those of one key.
func (t tracking) index() string { return string(t.owner) + "/" + t.workflow + "/" + t.node }

// title is how messages and rows call the instance.
func (t tracking) title() string {
	if t.key == "" {
		return t.node
	}
	return t.node + "[" + t.key + "]"
}

func (t tracking) instance() string { return t.index() + "/" + labelValue(t.key) }

// claim says whose an existing object is: nil if it is this node's, or the primary's and not tracked yet.
func (t tracking) claim(e *Engine, kind string, obj client.Object) error {
	has := e.read(obj)
	if has.instance() == t.instance() {
		return nil
	}
	owner := has.owner
	controller, name := metav1.GetControllerOfNoCopy(obj), fmt.Sprintf("%s %q", kind, obj.GetName())
	switch {
	case owner == t.owner:
		return refuse("ClaimedBy", "%s is managed by node %q of workflow %q: give one of them another name",
			name, has.title(), has.workflow)
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

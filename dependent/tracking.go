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

// The labels by which an object is found again, and the annotations that tell more of it, behind the prefix.
const (
	workflowLabel = "workflow"
	nodeLabel     = "node"
	ownerLabel    = "owner"
	keyLabel      = "key"

	primaryAnnotation = "primary"
	adoptedAnnotation = "adopted"
	epochAnnotation   = "epoch"
)

func (e *Engine) label(name string) string { return e.options.Prefix + "/" + name }

// OwnerLabel returns the label under which every dependent carries the UID of its primary.
func (e *Engine) OwnerLabel() string { return e.label(ownerLabel) }

// tracking tells whose object an object is.
type tracking struct {
	owner          types.UID
	workflow, node string
	key            string // of the instance, if the node is repeated
	primary        types.NamespacedName
	adopted        bool // it was somebody else's once
}

func trackingOf[P client.Object](r *workflow.Run[P]) tracking {
	return tracking{
		owner: r.Primary().GetUID(), workflow: r.Workflow(), node: r.Node(), key: r.Key(),
		primary: client.ObjectKeyFromObject(r.Primary()),
	}
}

// formerly is the tracking under another name of the node.
func (t tracking) formerly(node string) tracking {
	t.node = node
	return t
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

// annotations hold what the labels can't: of an object in a namespace, too.
func (t tracking) annotations(e *Engine, namespace string) map[string]string {
	all := map[string]string{e.label(primaryAnnotation): t.primaryFrom(namespace)}
	if labelValue(t.key) != t.key {
		all[e.label(keyLabel)] = t.key
	}
	if t.adopted {
		all[e.label(adoptedAnnotation)] = "true"
	}
	return all
}

// primaryFrom names the primary as seen from a namespace: one that is restored into another is still the same.
func (t tracking) primaryFrom(namespace string) string {
	if t.primary.Namespace == "" || t.primary.Namespace == namespace {
		return t.primary.Name
	}
	return t.primary.String()
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

// whole is under what all objects of a primary are found that a workflow has written.
func (t tracking) whole() string { return string(t.owner) + "/" + t.workflow }

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

// wrote reports whether we have written an object that carries our labels. A copy of it that somebody made, labels
// included, is theirs. Where managed fields have been lost altogether the labels have to do.
func (e *Engine) wrote(obj client.Object) bool {
	managed := obj.GetManagedFields()
	return len(managed) == 0 || slices.ContainsFunc(managed, func(m metav1.ManagedFieldsEntry) bool {
		return m.Manager == e.options.FieldManager && m.Operation == metav1.ManagedFieldsOperationApply
	})
}

// isAdopted reports whether an object was somebody else's before it was ours.
func (e *Engine) isAdopted(obj client.Object) bool {
	_, ok := obj.GetAnnotations()[e.label(adoptedAnnotation)]
	return ok
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

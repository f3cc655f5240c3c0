// SPDX-License-Identifier: Apache-2.0

package dependent

import (
	"context"
	"fmt"
	"hash/maphash"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/espalier-dev/espalier/internal/overlay"
	"github.com/espalier-dev/espalier/internal/writes"
	"github.com/espalier-dev/espalier/workflow"
)

// write is one server-side apply.
type write[P, T client.Object] struct {
	object   *object[P, T]
	tracking tracking
	intent   intent
	live     T // what is there, or nil
}

// compare reports whether the intent would change nothing of what is there, which must be ours and to stay.
func (w *write[P, T]) compare() (unchanged bool, err error) {
	before := w.engine().recordOf(w.tracking.owner, w.key())
	// What this node has written under this UID is its own, also if somebody has taken our labels off.
	err = w.tracking.claim(w.engine(), w.object.source.gvk.Kind, w.live)
	if err != nil && (before.uid != w.live.GetUID() || before.node != w.tracking.title()) {
		return false, err
	}
	if w.object.isGoing(w.live) {
		return false, workflow.NotYet("Terminating", "%s is being deleted%s", w.name(), finalizers(w.live))
	}
	now := before
	unchanged = w.object.unchanged(w.intent, w.live, &now)
	if unchanged && now != before {
		w.engine().remember(w.tracking.owner, w.key(), now)
	}
	return unchanged, nil
}

// attempt tells one thing to try from another: the same intent on another object, or on none, may work.
func (w *write[P, T]) attempt() uint64 {
	if isNil(w.live) {
		return w.intent.digest
	}
	return w.intent.digest ^ maphash.String(w.engine().seed, string(w.live.GetUID()))
}

// again is after how long a write is planned anew that met something which the cache hadn't shown; events come sooner.
const again = time.Second

// do applies the intent. What nobody has seen yet is created only, never overwritten; what was seen is written only
// under the UID that was seen.
func (w *write[P, T]) do(ctx context.Context) (workflow.Outcome[T], error) {
	if isNil(w.live) {
		out, err := w.apply(ctx, "")
		if apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) {
			return out, w.meet(ctx)
		}
		return out, w.explain(err)
	}
	out, err := w.apply(ctx, w.live.GetUID())
	if writes.IsReplaced(err) {
		w.engine().overlay.Drop(w.key())
		return out, workflow.RetryAfter(workflow.NotYet("Replaced", "%s was deleted or replaced meanwhile", w.name()), again)
	}
	return out, w.explain(err)
}

// apply sends the intent and keeps what is answered.
func (w *write[P, T]) apply(ctx context.Context, uid types.UID) (out workflow.Outcome[T], err error) {
	fields, err := w.intent.fields()
	if err != nil {
		return out, workflow.Terminal(err)
	}
	body, err := body(fields, uid)
	if err != nil {
		return out, workflow.Terminal(err)
	}
	obj := w.object.source.fresh().(T)
	obj.SetName(w.intent.name.Name)
	obj.SetNamespace(w.intent.name.Namespace)
	err = w.engine().target.GetClient().Patch(ctx, obj, client.RawPatch(types.ApplyPatchType, body),
		client.FieldOwner(w.engine().options.FieldManager), client.ForceOwnership, client.DisableReadYourWritesConsistency)
	if err != nil {
		return out, err
	}
	w.engine().overlay.Put(w.key(), obj)
	w.engine().remember(w.tracking.owner, w.key(), w.object.judged(w.intent, obj))
	return workflow.Outcome[T]{Value: obj, Ready: readiness(obj), Operation: w.operation(obj)}, nil
}

func (w *write[P, T]) operation(obj T) workflow.Operation {
	switch {
	case isNil(w.live):
		return workflow.Create
	case w.live.GetResourceVersion() == obj.GetResourceVersion():
		return workflow.None
	default:
		return workflow.Update
	}
}

// meet handles an object that exists though the cache doesn't show it: one live read says whose it is.
func (w *write[P, T]) meet(ctx context.Context) error {
	meta := &metav1.PartialObjectMetadata{}
	meta.SetGroupVersionKind(w.object.source.gvk)
	err := w.engine().target.GetAPIReader().Get(ctx, w.intent.name, meta)
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("reading %s, which exists already: %w", w.name(), err)
	}
	if err == nil {
		if err := w.tracking.claim(w.engine(), w.object.source.gvk.Kind, meta); err != nil {
			return err
		}
		if w.object.source.hides(ctx, meta) {
			return workflow.Because("Hidden", fmt.Errorf(
				"%s exists, but the cache doesn't show it: does a selector or a list of namespaces keep it out?", w.name()))
		}
	}
	return workflow.RetryAfter(workflow.NotYet("Unseen", "%s exists, but isn't in the cache yet", w.name()), again)
}

func (w *write[P, T]) engine() *Engine { return w.object.engine }

func (w *write[P, T]) key() overlay.Key { return w.object.source.key(w.intent.name) }

func (w *write[P, T]) name() string {
	return fmt.Sprintf("%s %q", w.object.source.gvk.Kind, w.intent.name.Name)
}

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
	object    *object[P, T]
	run       *workflow.Run[P]
	target    Target // the cluster that was read
	tracking  tracking
	draft     draft
	reference map[string]any // nil if the object isn't left to the garbage collector
	intent    intent
	live      T // what is there, or nil
	standing  standing
	repeated  bool   // the intent was written before
	revision  uint64 // of the primary
	inputs    uint64 // of the node
	drift     string // what others have changed, and may keep
	pruned    bool   // nothing is left of what the node had before
}

// intend makes the intent. An object that was somebody else's before has no owner reference: it would go with the
// primary.
func (w *write[P, T]) intend(isAdopted bool) {
	w.tracking.adopted = isAdopted
	reference := w.reference
	if isAdopted && !w.object.policy.deletesTaken {
		reference = nil
	}
	w.intent = w.engine().intend(w.draft, w.object.source.gvk, w.tracking, reference)
}

// compare reports whether the intent would change nothing of what is there, which must be ours and to stay.
func (w *write[P, T]) compare() (unchanged bool, err error) {
	before := w.remembered()
	w.pruned = before.pruned && before.uid == w.live.GetUID()
	if err := w.meets(w.live, before); err != nil {
		return false, err
	}
	if w.object.policy.once && w.standing == own {
		return true, nil
	}
	if len(w.live.GetManagedFields()) == 0 && before.wrote == w.live.GetResourceVersion() {
		return false, workflow.Terminal(refuse("ManagedFieldsStripped",
			"the cache strips the managed fields of %s, by which a node knows what is its own: "+
				"use dependent.KeepOwnFields instead of cache.TransformStripManagedFields", w.name()))
	}
	now := before
	w.repeated = before.intent == w.intent.digest && before.uid == w.live.GetUID()
	if unchanged, err = w.look(&now); unchanged && now != before {
		w.engine().remember(w.tracking.owner, w.key(), now)
	}
	return unchanged, err
}

// look compares the intent with what is remembered, and then with what is there. It brings now up to date.
func (w *write[P, T]) look(now *record) (unchanged bool, err error) {
	if w.standing == own && w.object.isRemembered(w.intent, w.live, now) {
		w.drift = now.drift
		return true, nil
	}
	if w.drift, err = w.leave(w.live); err != nil || w.standing != own {
		return false, err
	}
	if now.drift != w.drift {
		now.drift, now.owned = w.drift, 0 // the server has judged another intent
	}
	return w.object.unchanged(w.intent, w.live, now), nil
}

// meets makes the intent for an object that is there, if the node may have it. What the node has written under this UID
// is its own, also if somebody has taken our labels off.
func (w *write[P, T]) meets(there client.Object, written record) (err error) {
	w.standing, err = w.object.standing(w.tracking, there)
	claimed := w.engine().read(there).owner
	isOurs := written.uid == there.GetUID() && written.node == w.tracking.title()
	if isOurs && (claimed == "" || claimed == w.tracking.owner) {
		w.standing, err = own, nil
	}
	if err != nil {
		return err
	}
	if w.object.isGoing(there) {
		err = workflow.NotYet("Terminating", "%s is being deleted%s", w.name(), finalizers(there))
		if there.GetDeletionTimestamp() == nil { // as far as we know
			err = workflow.RetryAfter(err, again)
		}
		return err
	}
	if w.object.policy.once && w.standing != own {
		w.draft = w.draft.unfilled() // it keeps what is in it
	}
	w.intend(w.standing == adopted || w.engine().isAdopted(there))
	return nil
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
	if !isNil(w.live) {
		return w.over(ctx, w.live)
	}
	out, err := w.apply(ctx, guard{})
	if apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) {
		return w.meet(ctx)
	}
	return out, w.explain(ctx, err)
}

// over writes over what is there. What isn't tracked for the node yet is written only as it was seen, so that of two
// who would adopt an object one does.
func (w *write[P, T]) over(ctx context.Context, seen client.Object) (out workflow.Outcome[T], err error) {
	now, err := w.inherit(ctx, seen, w.standing)
	lock := guard{}
	var fields []string
	if err == nil {
		lock.uid = now.GetUID()
		if now != seen || w.standing == adopted {
			lock.version = now.GetResourceVersion()
		}
		fields, err = w.declaredImmutable(ctx, lock)
	}
	if err == nil && len(fields) == 0 {
		out, err = w.apply(ctx, lock)
	}
	if fields = append(fields, w.immutable(err)...); len(fields) > 0 {
		return w.recreate(ctx, fields, err)
	}
	switch {
	case isUnknownPath(err):
		return out, w.object.source.doubt(ctx)
	case writes.IsReplaced(err), apierrors.IsNotFound(err):
		w.engine().overlay.Drop(w.key())
		return out, workflow.RetryAfter(workflow.NotYet("Replaced", "%s was deleted or replaced meanwhile", w.name()), again)
	case w.conflict(err) != nil:
		return out, w.conflict(err)
	case apierrors.IsConflict(err):
		return out, workflow.RetryAfter(workflow.NotYet("Changed", "%s was changed meanwhile", w.name()), again)
	}
	return out, w.explain(ctx, err)
}

// send sends the intent and returns what is answered.
func (w *write[P, T]) send(ctx context.Context, g guard, how ...client.PatchOption) (obj T, err error) {
	fields, err := w.intent.fields()
	if err != nil {
		return obj, workflow.Terminal(err)
	}
	body, err := body(fields, g)
	if err != nil {
		return obj, workflow.Terminal(err)
	}
	obj = w.object.source.fresh().(T)
	obj.SetName(w.draft.name.Name)
	obj.SetNamespace(w.draft.name.Namespace)
	how = append(how, client.FieldOwner(w.engine().options.FieldManager), client.DisableReadYourWritesConsistency)
	if !w.object.policy.yields {
		how = append(how, client.ForceOwnership)
	}
	return obj, w.target.GetClient().Patch(ctx, obj, client.RawPatch(types.ApplyPatchType, body), how...)
}

// apply sends the intent and keeps what is answered.
func (w *write[P, T]) apply(ctx context.Context, g guard) (out workflow.Outcome[T], err error) {
	obj, err := w.send(ctx, g)
	if err != nil {
		return out, err
	}
	w.engine().overlay.Put(w.key(), obj)
	now := w.object.judged(w.intent, obj)
	now.drift = w.drift
	if len(obj.GetManagedFields()) > 0 {
		now.wrote = obj.GetResourceVersion()
	}
	w.engine().remember(w.tracking.owner, w.key(), now)
	out = workflow.Outcome[T]{
		Value: obj, Ready: readiness(w.object.source.gvk.GroupKind(), obj), Operation: w.operation(obj), Drift: w.drift,
	}
	corrected := ""
	if out.Operation == workflow.Update {
		corrected = w.corrected()
	}
	w.churned(out, corrected)
	if w.object.policy.drift == Correct {
		out.Drift = corrected
	}
	out.Drift = abridged(out.Drift)
	return out, nil
}

func (w *write[P, T]) operation(obj T) workflow.Operation {
	switch {
	case w.standing != own:
		return workflow.Adopt
	case isNil(w.live):
		return workflow.Create
	case w.live.GetResourceVersion() == obj.GetResourceVersion():
		return workflow.None
	default:
		return workflow.Update
	}
}

// meet handles an object that exists though the cache doesn't show it: one live read says whose it is.
func (w *write[P, T]) meet(ctx context.Context) (out workflow.Outcome[T], err error) {
	meta := &metav1.PartialObjectMetadata{}
	meta.SetGroupVersionKind(w.object.source.gvk)
	err = w.target.GetAPIReader().Get(ctx, w.draft.name, meta)
	if err != nil && !apierrors.IsNotFound(err) {
		return out, fmt.Errorf("reading %s, which exists already: %w", w.name(), err)
	}
	if err == nil {
		if err := w.meets(meta, record{}); err != nil {
			return out, err
		}
		if w.standing != own {
			return w.takeUnseen(ctx, meta)
		}
		if w.object.source.hides(ctx, meta) {
			return out, workflow.Because("Hidden", fmt.Errorf(
				"%s exists, but the cache doesn't show it: does a selector or a list of namespaces keep it out?", w.name()))
		}
	}
	return out, workflow.RetryAfter(workflow.NotYet("Unseen", "%s exists, but isn't in the cache yet", w.name()), again)
}

// takeUnseen writes over an object of which its metadata alone are known, unless more of it counts: fields that are
// to be left, or from which the desired state goes on.
func (w *write[P, T]) takeUnseen(ctx context.Context, meta client.Object) (out workflow.Outcome[T], err error) {
	if len(w.object.ignored) == 0 && w.object.named == nil {
		return w.over(ctx, meta)
	}
	obj := w.object.source.fresh().(T)
	if err := w.target.GetAPIReader().Get(ctx, w.draft.name, obj); err != nil {
		return out, fmt.Errorf("reading %s, which exists already: %w", w.name(), err)
	}
	if obj.GetUID() != meta.GetUID() {
		return out, workflow.RetryAfter(workflow.NotYet("Replaced", "%s was replaced meanwhile", w.name()), again)
	}
	if w.object.named != nil && !w.object.policy.once {
		if err := w.redraw(obj); err != nil {
			return out, err
		}
	}
	if _, err := w.leave(obj); err != nil {
		return out, err
	}
	return w.over(ctx, obj)
}

// redraw makes the intent anew, going on from what is there. Its kind can be asked twice: it isn't an author's
// function.
func (w *write[P, T]) redraw(own T) error {
	name := w.draft.name
	d, err := w.object.desired(w.run, own)
	if err != nil {
		return err
	}
	w.draft, w.draft.name = d, name
	w.intend(w.standing == adopted || w.engine().isAdopted(own))
	return nil
}

func (w *write[P, T]) engine() *Engine { return w.object.engine }

func (w *write[P, T]) key() overlay.Key { return w.object.source.key(w.draft.name) }

// claim tells the object from all others.
func (w *write[P, T]) claim() string {
	if c := w.object.source.cluster; c != "" {
		return fmt.Sprintf("%s in namespace %q of cluster %q", w.name(), w.draft.name.Namespace, c)
	}
	return fmt.Sprintf("%s in namespace %q", w.name(), w.draft.name.Namespace)
}

func (w *write[P, T]) name() string {
	return fmt.Sprintf("%s %q", w.object.source.gvk.Kind, w.draft.name.Name)
}

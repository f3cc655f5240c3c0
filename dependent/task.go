// SPDX-License-Identifier: Apache-2.0

package dependent

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/espalier-dev/espalier/workflow"
)

// TaskNode is the handle of a node that runs something to its end.
type TaskNode[P, T client.Object] struct {
	workflow.Base[P, T, *TaskNode[P, T]]
	Policies[*TaskNode[P, T]]
	inputs   func(r *workflow.Run[P]) (any, error)
	complete func(T) workflow.Verdict
	reruns   bool
}

// Task declares a node that runs a Job, or anything else that completes, once for each value of its inputs. The
// object's name gets a digest of them, and once made it is left alone. When it has completed, that is noted in a
// ConfigMap of the primary, named after the node: done stays done after the object has gone, by its time to live or
// by hand. If the inputs change, the next one begins after the present one has ended. The node is ready once it is
// done; it yields the object, nil if that has gone. One that failed stays, and the node fails, until the inputs
// change or somebody deletes it.
func Task[T any, PT ObjectOf[T], P client.Object](
	b *workflow.Builder[P], name string, desired func(r *workflow.Run[P]) (*T, error),
) *TaskNode[P, PT] {
	h := &TaskNode[P, PT]{}
	h.Policies.self = h //nolint:staticcheck // Base has a self too
	h.policy.once = true
	draw := func(r *workflow.Run[P], _ PT) (draft, error) {
		obj, err := desired(r)
		if err != nil {
			return draft{}, err
		}
		return typedDraft(PT(obj))
	}
	kind := &taskKind[P, PT]{objectKind[P, PT]{example: PT(new(T)), desired: draw, policy: &h.policy}, h}
	h.activate = func() { h.ActivateWhen("its kind is served", kind.served) }
	return workflow.Declare(b, name, kind, &h.Base, h)
}

// By sets what the task depends on: it runs once for each value, as JSON has it. Without it that is the desired state
// itself, but for its metadata.
func (h *TaskNode[P, T]) By(inputs func(r *workflow.Run[P]) (any, error)) *TaskNode[P, T] {
	h.inputs = inputs
	return h
}

// CompleteWhen replaces the rule by which the object has completed, which is the readiness of its kind. A broken
// verdict means that it has failed.
func (h *TaskNode[P, T]) CompleteWhen(holds func(obj T) workflow.Verdict) *TaskNode[P, T] {
	h.complete = holds
	return h
}

// RerunFailed deletes an object that has failed and makes it anew, after the node's Backoff.
func (h *TaskNode[P, T]) RerunFailed() *TaskNode[P, T] {
	h.reruns = true
	return h
}

type taskKind[P, T client.Object] struct {
	objectKind[P, T]
	handle *TaskNode[P, T]
}

// Bind makes the kind live in an Engine.
func (k *taskKind[P, T]) Bind(env any) (workflow.Resource[P, T], error) {
	bound, err := k.objectKind.Bind(env)
	if err != nil {
		return nil, err
	}
	t := &task[P, T]{object: bound.(*object[P, T]), handle: k.handle}
	notes := &objectKind[P, *corev1.ConfigMap]{example: &corev1.ConfigMap{}, policy: &policy{}}
	noted, err := notes.Bind(env)
	if err != nil {
		return nil, err
	}
	t.notes = noted.(*object[P, *corev1.ConfigMap])
	if t.notes.source == t.source {
		return nil, errors.New("a ConfigMap never completes: a Task needs another kind")
	}
	return t, nil
}

// task runs objects to their end, and notes that.
type task[P, T client.Object] struct {
	*object[P, T]
	handle *TaskNode[P, T]
	notes  *object[P, *corev1.ConfigMap]
}

// noteKey is the line that says for which inputs the task is done.
const noteKey = "done"

// Prepare finds out whether the task is done, running, or to begin.
func (t *task[P, T]) Prepare(r *workflow.Run[P]) (step workflow.Step[T], err error) {
	now, err := t.source.ready(r.Context())
	if err != nil {
		return step, t.engine.untilServed(err)
	}
	d, live, err := t.want(r)
	if err != nil {
		return step, err
	}
	note, err := t.note(r)
	if err != nil {
		return step, err
	}
	if !isNil(note) && note.Data[noteKey] == d.name.Name {
		w := &write[P, T]{object: t.object, run: r, tracking: trackingOf(r), draft: d}
		return workflow.Step[T]{
			Value: live, Ready: workflow.Met(), Prune: func() (workflow.Removal, error) { return w.prune(r) },
		}, nil
	}
	if isNil(live) {
		if err := t.othersHaveEnded(r); err != nil {
			return step, err
		}
	}
	step, err = t.bring(r, now.target, d, live)
	if err != nil || step.Do != nil {
		return step, err
	}
	return t.conclude(r, now.target, step, note)
}

// want is what the object is to be, under the name that goes with the inputs.
func (t *task[P, T]) want(r *workflow.Run[P]) (d draft, live T, err error) {
	d, err = t.desired(r, live)
	if err != nil {
		return d, live, err
	}
	if t.handle.inputs == nil {
		d.name.Name, err = contentName(d)
	} else {
		var inputs any
		if inputs, err = t.handle.inputs(r); err == nil {
			var digest string
			digest, err = Digest(inputs)
			d.name.Name += "-" + digest[:min(digestLength, len(digest))]
		}
	}
	if err != nil {
		return d, live, err
	}
	if d.name, err = t.place(r.Primary(), d.name); err != nil {
		return d, live, err
	}
	live, err = t.read(r, d.name)
	return d, live, err
}

// note returns what is noted, or nil.
func (t *task[P, T]) note(r *workflow.Run[P]) (*corev1.ConfigMap, error) {
	d, err := t.noteOf(r, "")
	if err != nil {
		return nil, err
	}
	return t.notes.read(r, d.name)
}

func (t *task[P, T]) noteOf(r *workflow.Run[P], done string) (draft, error) {
	obj := &corev1.ConfigMap{Data: map[string]string{noteKey: done}}
	obj.Name = Name(r.Primary(), r.Node(), "task")
	if r.Key() != "" {
		obj.Name = Name(r.Primary(), r.Node(), "task", r.Key())
	}
	d, err := typedDraft(obj)
	if err == nil {
		d.name, err = t.notes.place(r.Primary(), d.name)
	}
	return d, err
}

// othersHaveEnded reports why an object for other inputs keeps this one from beginning.
func (t *task[P, T]) othersHaveEnded(r *workflow.Run[P]) error {
	found, err := t.find(r)
	if err != nil {
		return err
	}
	for _, obj := range found {
		other, ok := obj.(T)
		if !ok || t.isGoing(other) {
			continue
		}
		if verdict := t.verdict(other); !verdict.Holds() && !verdict.IsBroken() {
			return workflow.NotYet("Running", "%s, for other inputs, hasn't ended yet", t.source.called(other))
		}
	}
	return nil
}

func (t *task[P, T]) verdict(obj T) workflow.Verdict {
	if t.handle.complete != nil {
		return t.handle.complete(obj)
	}
	return readiness(t.source.gvk.GroupKind(), obj)
}

// conclude takes in what has become of an object that is there.
func (t *task[P, T]) conclude(
	r *workflow.Run[P], in Target, step workflow.Step[T], note *corev1.ConfigMap,
) (workflow.Step[T], error) {
	step.Ready = t.verdict(step.Value)
	live := step.Value
	switch {
	case step.Ready.Holds():
		d, err := t.noteOf(r, live.GetName())
		if err != nil {
			return step, err
		}
		noted, err := t.notes.bring(r, t.engine.target, d, note)
		if err != nil || noted.Do == nil {
			return step, err
		}
		step.Intent = noted.Intent
		step.Do = func(ctx context.Context) (workflow.Outcome[T], error) {
			out, err := noted.Do(ctx)
			return workflow.Outcome[T]{Value: live, Ready: workflow.Met(), Operation: out.Operation}, err
		}
	case step.Ready.IsBroken() && t.handle.reruns:
		step.Do = func(ctx context.Context) (workflow.Outcome[T], error) {
			out := workflow.Outcome[T]{Operation: workflow.Recreate}
			if err := t.delete(ctx, in, live); err != nil {
				return out, err
			}
			return out, workflow.Because("TaskFailed", fmt.Errorf("%s: it is run again", step.Ready))
		}
	}
	return step, nil
}

// Delete removes what has run, and the note.
func (t *task[P, T]) Delete(r *workflow.Run[P]) (workflow.Removal, error) {
	removal, err := t.object.Delete(r)
	if err != nil || !removal.Gone {
		return removal, err
	}
	return t.notes.Delete(r)
}

// SPDX-License-Identifier: Apache-2.0

package dependent

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/espalier-dev/espalier/internal/path"
	"github.com/espalier-dev/espalier/workflow"
)

// object manages one object of the primary: it is what an [Object] is bound to.
type object[P, T client.Object] struct {
	*objectKind[P, T]
	engine              *Engine
	source              *source
	ignored, recreateOn []path.Path
	formerly            []*object[P, client.Object] // of other kinds
}

// Collectable reports whether the garbage collector may remove the object: a namespaced primary can own only what is in
// its namespace, and nobody owns anything in another cluster. Of a kind that isn't served the scope isn't known.
func (o *object[P, T]) Collectable() bool {
	if o.policy.keeps() || o.source.cluster != "" || o.source.mapping.Load() == nil {
		return false
	}
	return !o.engine.namespaced || o.source.isNamespaced() && !o.policy.anyNamespace
}

// Observe finds the object by its labels: it must not need the author's function.
func (o *object[P, T]) Observe(r *workflow.Run[P]) (T, workflow.Presence, error) {
	var none T
	found, err := o.find(r)
	if err != nil {
		return none, workflow.Indeterminate, err
	}
	for _, obj := range found {
		if live, ok := obj.(T); ok && !o.isGoing(live) {
			return live, workflow.Present, nil
		}
	}
	return none, workflow.Absent, nil
}

// find returns what the node manages, of one instance, under its former names too. Of a kind that isn't served there is
// nothing.
func (o *object[P, T]) find(r *workflow.Run[P]) ([]client.Object, error) {
	return o.findBy(r, o.source.find)
}

func (o *object[P, T]) findBy(
	r *workflow.Run[P], find func(context.Context, tracking, string) ([]client.Object, error),
) ([]client.Object, error) {
	t, within := trackingOf(r), o.within(r)
	found, err := find(r.Context(), t, within)
	for _, name := range o.policy.formerNames {
		if err != nil {
			break
		}
		var more []client.Object
		more, err = find(r.Context(), t.formerly(name), within)
		found = append(found, more...)
	}
	if isNotServed(err) {
		return nil, nil
	}
	return found, err
}

// within is where the node's objects can be. A copy in another namespace, labels and all, is somebody else's.
func (o *object[P, T]) within(r *workflow.Run[P]) string {
	if !o.source.isNamespaced() || o.policy.anyNamespace {
		return ""
	}
	return r.Primary().GetNamespace()
}

// Keys returns the keys of the instances of which anything exists, for a node in a Repeat.
func (o *object[P, T]) Keys(r *workflow.Run[P]) ([]string, error) {
	found, err := o.findBy(r, o.source.findAll)
	keys := map[string]bool{}
	for _, obj := range found {
		if key := o.engine.keyOf(obj); key != "" {
			keys[key] = true
		}
	}
	return slices.Sorted(maps.Keys(keys)), err
}

// isGoing reports whether an object is being deleted, as far as the cache or our own writes know.
func (o *object[P, T]) isGoing(live client.Object) bool {
	return live.GetDeletionTimestamp() != nil || o.engine.overlay.IsDeleted(live.GetUID())
}

// Prepare asks for the desired state and compares it with what is there.
func (o *object[P, T]) Prepare(r *workflow.Run[P]) (workflow.Step[T], error) {
	var step workflow.Step[T]
	now, err := o.source.ready(r.Context())
	if err != nil {
		return step, o.engine.untilServed(err)
	}
	d, live, err := o.want(r)
	if err != nil {
		return step, err
	}
	return o.bring(r, now.target, d, live)
}

// bring compares what is wanted with what is there.
func (o *object[P, T]) bring(r *workflow.Run[P], in Target, d draft, live T) (step workflow.Step[T], err error) {
	w := &write[P, T]{object: o, run: r, target: in, tracking: trackingOf(r), draft: d, live: live}
	if r.Collected() {
		w.reference = o.engine.ownerReference(r.Primary())
	}
	unchanged := false
	if isNil(live) {
		w.intend(false)
	} else {
		if unchanged, err = w.compare(); err != nil {
			return step, err
		}
		step.Ready = readiness(o.source.gvk.GroupKind(), live) // beside a write it says how what stands is
	}
	if !unchanged || !w.pruned {
		step.Prune = func() (workflow.Removal, error) { return w.prune(r) }
	}
	if unchanged {
		step.Value, step.Drift = live, abridged(w.drift)
		return step, nil
	}
	w.revision, w.inputs = o.engine.revisionIn(r.Primary()), r.Inputs()
	step.Intent, step.Do, step.Claims = w.attempt(), w.do, []string{w.claim()}
	return step, w.calm()
}

// want asks the author's function and reads what is there under the name that it gives.
func (o *object[P, T]) want(r *workflow.Run[P]) (d draft, live T, err error) {
	var own T
	if o.named != nil {
		name, err := o.place(r.Primary(), types.NamespacedName{Name: o.named(r)})
		if err != nil {
			return d, live, err
		}
		if own, err = o.read(r, name); err != nil {
			return d, live, err
		}
	}
	if d, err = o.desired(r, own); err != nil {
		return d, live, err
	}
	if o.policy.recreate == ContentNamed && d.name.Name != "" {
		if d.name.Name, err = contentName(d); err != nil {
			return d, live, workflow.Terminal(err)
		}
	}
	if d.name, err = o.place(r.Primary(), d.name); err != nil {
		return d, live, err
	}
	live, err = o.read(r, d.name)
	return d, live, err
}

func (o *object[P, T]) read(r *workflow.Run[P], name types.NamespacedName) (live T, err error) {
	found, err := o.source.get(r.Context(), name)
	if err != nil || found == nil {
		return live, err
	}
	live, ok := found.(T)
	if !ok {
		return live, fmt.Errorf("reading %s %q: it is a %T", o.source.gvk.Kind, name.Name, found)
	}
	return live, nil
}

// place checks the name and fills in the namespace.
func (o *object[P, T]) place(primary P, name types.NamespacedName) (types.NamespacedName, error) {
	kind, home := o.source.gvk.Kind, primary.GetNamespace()
	refuse := func(format string, args ...any) (types.NamespacedName, error) {
		return name, workflow.Terminal(workflow.Because("InvalidName", fmt.Errorf(format, args...)))
	}
	switch {
	case name.Name == "":
		return refuse("the desired %s has no metadata.name: use dependent.Name", kind)
	case !o.source.isNamespaced() && name.Namespace != "":
		return refuse("%s %q has metadata.namespace, but its kind is cluster-scoped: leave it out", kind, name.Name)
	case !o.source.isNamespaced():
		return name, nil
	case name.Namespace == "" && home == "":
		return refuse("%s %q has no metadata.namespace, and neither has its primary: set it", kind, name.Name)
	case name.Namespace == "":
		name.Namespace = home
	case home != "" && name.Namespace != home && !o.policy.anyNamespace:
		return refuse("%s %q is in namespace %q, its primary in %q: declare the node with AnyNamespace()",
			kind, name.Name, name.Namespace, home)
	}
	return name, nil
}

func isNil[T client.Object](obj T) bool { return any(obj) == nil || any(obj) == any(*new(T)) }

// finalizers says what holds an object that is being deleted.
func finalizers(obj client.Object) string {
	if f := obj.GetFinalizers(); len(f) > 0 {
		return fmt.Sprintf(", held by %q", f)
	}
	return ""
}

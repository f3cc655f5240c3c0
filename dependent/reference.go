// SPDX-License-Identifier: Apache-2.0

package dependent

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/espalier-dev/espalier/workflow"
)

// Referenced is the handle of a node that reads what somebody else has, and never writes it.
type Referenced[P client.Object, V any] struct {
	workflow.Base[P, V, *Referenced[P, V]]
	cluster string
	byName  bool
}

// InCluster says that it is in another cluster, of a name that [EngineOptions.Clusters] knows.
func (h *Referenced[P, V]) InCluster(name string) *Referenced[P, V] {
	h.cluster = name
	return h
}

// Reference declares a node that yields an object that somebody else has. The namespace of its key defaults to the
// primary's. As long as there is none the node is NotReady, reason NotFound, and yields nil; when it is there it is
// ready by the rule of its kind. The primary is reconciled whenever the object appears, changes or vanishes. All
// objects of the kind are watched, see [Referenced.ByName], so a cache that is narrowed to what the operator has
// written hides it.
func Reference[T any, PT ObjectOf[T], P client.Object](
	b *workflow.Builder[P], name string, key func(r *workflow.Run[P]) (client.ObjectKey, error),
) *Referenced[P, PT] {
	h := &Referenced[P, PT]{}
	return workflow.Declare(b, name, referenceKind[P, PT]{PT(new(T)), key, h}, &h.Base, h)
}

type referenceKind[P, T client.Object] struct {
	example T
	key     func(r *workflow.Run[P]) (client.ObjectKey, error)
	handle  *Referenced[P, T]
}

// ManagesNothing says that nothing is ever deleted.
func (referenceKind[P, T]) ManagesNothing() {}

// Bind makes the kind live in an Engine.
func (k referenceKind[P, T]) Bind(env any) (workflow.Resource[P, T], error) {
	e, gvk, err := kindIn(env, k.example)
	if err != nil {
		return nil, err
	}
	out := reference[P, T]{referenceKind: k, engine: e, gvk: gvk}
	if k.handle.byName {
		out.from = &loneSource{engine: e, cluster: k.handle.cluster, gvk: gvk, example: k.example}
		return out, e.knowsCluster(k.handle.cluster)
	}
	out.from, err = e.source(k.handle.cluster, gvk, k.example)
	return out, err
}

func kindIn(env any, example client.Object) (*Engine, schema.GroupVersionKind, error) {
	e, err := environment(env)
	if err != nil {
		return nil, schema.GroupVersionKind{}, err
	}
	gvk, err := e.kindOf(example)
	return e, gvk, err
}

type reference[P, T client.Object] struct {
	referenceKind[P, T]
	engine *Engine
	gvk    schema.GroupVersionKind
	from   lookup
}

// lookup finds somebody else's object for a referrer, who is told of its changes from then on. A key without a
// namespace is in that of the primary. Nil means that there is none.
type lookup interface {
	lookup(ctx context.Context, who referrer, key client.ObjectKey, home string) (client.Object, error)
}

// Observe reads the object from the cache.
func (k reference[P, T]) Observe(r *workflow.Run[P]) (T, workflow.Presence, error) {
	obj, err := k.read(r)
	switch {
	case isNotServed(err), err == nil && isNil(obj):
		return obj, workflow.Absent, nil
	case err != nil:
		return obj, workflow.Indeterminate, err
	default:
		return obj, workflow.Present, nil
	}
}

// Prepare reads it, too.
func (k reference[P, T]) Prepare(r *workflow.Run[P]) (workflow.Step[T], error) {
	obj, err := k.read(r)
	if err != nil {
		return workflow.Step[T]{}, k.engine.untilServed(err)
	}
	if isNil(obj) {
		return workflow.Step[T]{Ready: workflow.Unmet("NotFound", "there is no such %s", k.gvk.Kind)}, nil
	}
	return workflow.Step[T]{Value: obj, Ready: readiness(k.gvk.GroupKind(), obj), Intent: revisionOf(obj)}, nil
}

// Delete has nothing to do.
func (reference[P, T]) Delete(*workflow.Run[P]) (workflow.Removal, error) {
	return workflow.Removal{Gone: true}, nil
}

func (k reference[P, T]) read(r *workflow.Run[P]) (obj T, err error) {
	key, err := k.key(r)
	if err != nil {
		return obj, err
	}
	if key.Name == "" {
		return obj, workflow.Terminal(refuse("InvalidName", "the %s that is referred to has no name", k.gvk.Kind))
	}
	found, err := k.from.lookup(r.Context(), referrerOf(r), key, r.Primary().GetNamespace())
	if err != nil || found == nil {
		return obj, err
	}
	obj, ok := found.(T)
	if !ok {
		return obj, fmt.Errorf("reading %s %q: it is a %T", k.gvk.Kind, key.Name, found)
	}
	return obj, nil
}

// Selection says which objects are meant. The zero value means all of the kind in the primary's namespace.
type Selection struct {
	// Namespace defaults to the primary's, unless AllNamespaces is set.
	Namespace     string
	AllNamespaces bool
	// Labels is nil for all.
	Labels labels.Selector
}

// References declares a node that yields all objects that somebody else has and that are selected, sorted by namespace
// and name: none is fine. It is always ready, unless ReadyWhen says otherwise, and woken like a [Reference].
func References[T any, PT ObjectOf[T], P client.Object](
	b *workflow.Builder[P], name string, which func(r *workflow.Run[P]) (Selection, error),
) *Referenced[P, []PT] {
	h := &Referenced[P, []PT]{}
	return workflow.Declare(b, name, referencesKind[P, PT]{PT(new(T)), which, h}, &h.Base, h)
}

type referencesKind[P, T client.Object] struct {
	example T
	which   func(r *workflow.Run[P]) (Selection, error)
	handle  *Referenced[P, []T]
}

// ManagesNothing says that nothing is ever deleted.
func (referencesKind[P, T]) ManagesNothing() {}

// Bind makes the kind live in an Engine.
func (k referencesKind[P, T]) Bind(env any) (workflow.Resource[P, []T], error) {
	e, gvk, err := kindIn(env, k.example)
	if err != nil {
		return nil, err
	}
	if k.handle.byName {
		return nil, errors.New("ByName() is for one object: References watches all of a kind")
	}
	s, err := e.source(k.handle.cluster, gvk, k.example)
	return references[P, T]{k, s}, err
}

type references[P, T client.Object] struct {
	referencesKind[P, T]
	source *source
}

// Observe reads the objects from the cache. That there are none is known, too.
func (k references[P, T]) Observe(r *workflow.Run[P]) ([]T, workflow.Presence, error) {
	objects, _, err := k.read(r)
	switch {
	case isNotServed(err):
		return nil, workflow.Present, nil
	case err != nil:
		return nil, workflow.Indeterminate, err
	default:
		return objects, workflow.Present, nil
	}
}

// Prepare reads them, too.
func (k references[P, T]) Prepare(r *workflow.Run[P]) (workflow.Step[[]T], error) {
	objects, digest, err := k.read(r)
	if err != nil {
		return workflow.Step[[]T]{}, k.source.engine.untilServed(err)
	}
	return workflow.Step[[]T]{Value: objects, Ready: workflow.Met(), Intent: digest}, nil
}

// Delete has nothing to do.
func (references[P, T]) Delete(*workflow.Run[P]) (workflow.Removal, error) {
	return workflow.Removal{Gone: true}, nil
}

func (k references[P, T]) read(r *workflow.Run[P]) (objects []T, digest uint64, err error) {
	which, err := k.which(r)
	if err != nil {
		return nil, 0, err
	}
	if which.AllNamespaces && which.Namespace != "" {
		return nil, 0, workflow.Terminal(errors.New("a Selection has both a Namespace and AllNamespaces: choose one"))
	}
	namespace := which.Namespace
	if namespace == "" && !which.AllNamespaces && k.source.isNamespaced() {
		namespace = r.Primary().GetNamespace()
	}
	if which.Labels == nil {
		which.Labels = labels.Everything()
	}
	k.source.refer(referrerOf(r), referred{namespace: namespace, labels: which.Labels})
	found, err := k.source.selected(r.Context(), namespace, which.Labels)
	digest = 1
	for _, obj := range found {
		if obj, ok := obj.(T); ok {
			objects = append(objects, obj)
			digest = digest*1099511628211 ^ revisionOf(obj)
		}
	}
	return objects, digest, err
}

// revisionOf tells one state of an object from another, so that what failed because of it is tried again.
func revisionOf(obj client.Object) uint64 {
	digest := uint64(14695981039346656037) // FNV-1a
	for _, c := range []byte(string(obj.GetUID()) + obj.GetResourceVersion()) {
		digest = (digest ^ uint64(c)) * 1099511628211
	}
	return digest
}

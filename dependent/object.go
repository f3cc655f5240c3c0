// SPDX-License-Identifier: Apache-2.0

package dependent

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/espalier-dev/espalier/internal/encode"
	"github.com/espalier-dev/espalier/workflow"
)

// ObjectOf is *T where *T is an object: with it a call spells T alone.
type ObjectOf[T any] interface {
	*T
	client.Object
}

// ApplyConfiguration is a root apply configuration, such as client-go generates for every built-in kind.
type ApplyConfiguration interface {
	runtime.ApplyConfiguration
	GetName() *string
	GetNamespace() *string
	GetKind() *string
	GetAPIVersion() *string
}

var errNil = errors.New("the desired state is nil: return an object, or give the node a ReconcileWhen")

// Object is the handle of a node that manages one object of type T, for primaries of type P.
type Object[P, T client.Object] struct {
	workflow.Base[P, T, *Object[P, T]]
	Policies[*Object[P, T]]
}

// Apply declares a node whose desired state is an apply configuration: what it sets is owned, nothing else. The
// namespace of a namespaced object defaults to the primary's.
func Apply[T any, PT ObjectOf[T], P client.Object, AC ApplyConfiguration](
	b *workflow.Builder[P], name string, desired func(r *workflow.Run[P]) (AC, error),
) *Object[P, PT] {
	return declare(b, name, applyKind[T, PT](desired))
}

func applyKind[T any, PT ObjectOf[T], P client.Object, AC ApplyConfiguration](
	desired func(r *workflow.Run[P]) (AC, error),
) *objectKind[P, PT] {
	draw := func(r *workflow.Run[P], _ PT) (draft, error) {
		c, err := desired(r)
		if err != nil {
			return draft{}, err
		}
		plain, err := json.Marshal(c)
		if err != nil {
			return draft{}, fmt.Errorf("encoding the desired state: %w", err)
		}
		if string(plain) == "null" {
			return draft{}, errNil
		}
		name := types.NamespacedName{Namespace: value(c.GetNamespace()), Name: value(c.GetName())}
		return draft{name: name, plain: plain, fields: fromJSON(plain)}, nil
	}
	return &objectKind[P, PT]{example: PT(new(T)), desired: draw}
}

// Typed declares a node whose desired state is an object of its Go type. Its zero fields that are tagged omitempty or
// omitzero are left out; to set one of those to its zero value, use [Apply].
func Typed[T any, PT ObjectOf[T], P client.Object](
	b *workflow.Builder[P], name string, desired func(r *workflow.Run[P]) (*T, error),
) *Object[P, PT] {
	draw := func(r *workflow.Run[P], _ PT) (draft, error) {
		obj, err := desired(r)
		if err != nil {
			return draft{}, err
		}
		return typedDraft(PT(obj))
	}
	return declare(b, name, &objectKind[P, PT]{example: PT(new(T)), desired: draw})
}

// Unstructured declares a node whose desired state is given as fields: for a kind without a Go type, or one that is
// known at run time only. All that it has is sent, zero values too, but for status and what of the metadata is the
// server's. Kind and version may be left out. All nodes of a kind must be declared with its Go type, or all without.
func Unstructured[P client.Object](
	b *workflow.Builder[P], gvk schema.GroupVersionKind, name string,
	desired func(r *workflow.Run[P]) (*unstructured.Unstructured, error),
) *Object[P, *unstructured.Unstructured] {
	draw := func(r *workflow.Run[P], _ *unstructured.Unstructured) (draft, error) {
		obj, err := desired(r)
		if err != nil {
			return draft{}, err
		}
		if obj == nil {
			return draft{}, errNil
		}
		if has := obj.GroupVersionKind(); !has.Empty() && has != gvk {
			return draft{}, workflow.Terminal(fmt.Errorf(
				"the desired state is of %s, but the node was declared for %s", has, gvk))
		}
		plain, err := json.Marshal(obj.Object)
		if err != nil {
			return draft{}, fmt.Errorf("encoding the desired state: %w", err)
		}
		return draft{name: client.ObjectKeyFromObject(obj), plain: plain, fields: fromJSON(plain)}, nil
	}
	example := &unstructured.Unstructured{}
	example.SetGroupVersionKind(gvk)
	return declare(b, name, &objectKind[P, *unstructured.Unstructured]{example: example, desired: draw})
}

func typedDraft[PT client.Object](obj PT) (draft, error) {
	if reflect.ValueOf(obj).IsNil() {
		return draft{}, errNil
	}
	plain, err := json.Marshal(obj)
	if err != nil {
		return draft{}, fmt.Errorf("encoding the desired state: %w", err)
	}
	return draft{name: client.ObjectKeyFromObject(obj), plain: plain, fields: func() (map[string]any, error) {
		return encode.Object(obj)
	}}, nil
}

func declare[P, T client.Object](b *workflow.Builder[P], name string, kind *objectKind[P, T]) *Object[P, T] {
	h := &Object[P, T]{}
	h.Policies.self = h //nolint:staticcheck // Base has a self too
	h.activate = func() { h.ActivateWhen("its kind is served", kind.served) }
	kind.policy = &h.policy
	return workflow.Declare(b, name, kind, &h.Base, h)
}

// objectKind is a kind of node that manages one object.
type objectKind[P, T client.Object] struct {
	example T // an empty object
	// named gives the object's name before its desired state is asked for, if that depends on what is there.
	named func(r *workflow.Run[P]) string
	// desired asks the author's function. Own is what is there under that name, or nil.
	desired func(r *workflow.Run[P], own T) (draft, error)
	policy  *policy
}

// Bind makes the kind live in an Engine.
func (k *objectKind[P, T]) Bind(env any) (workflow.Resource[P, T], error) {
	e, err := environment(env)
	if err != nil {
		return nil, err
	}
	gvk, err := e.kindOf(k.example)
	if k.named != nil && k.policy.recreate == ContentNamed {
		err = errors.Join(err, errors.New("Recreate(ContentNamed) can't be had by a node that goes on from what is there"))
	}
	if err := errors.Join(err, k.policy.check()); err != nil {
		return nil, err
	}
	s, err := e.source(k.policy.cluster, gvk, k.example)
	if err != nil {
		return nil, err
	}
	s.writes.Store(true)
	s.anyNamespace = s.anyNamespace || k.policy.anyNamespace
	o := &object[P, T]{objectKind: k, engine: e, source: s}
	o.ignored, _ = parsePaths(k.policy.ignored)
	o.recreateOn, _ = parsePaths(k.policy.recreateOn)
	return o, o.bindFormerKinds()
}

func value(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

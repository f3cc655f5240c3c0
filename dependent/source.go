// SPDX-License-Identifier: Apache-2.0

package dependent

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/espalier-dev/espalier/internal/overlay"
)

// source reads the objects of one kind from the cache, with the overlay over it. It does no I/O, and never takes an
// error or a cache that hasn't synced for absence.
type source struct {
	engine     *Engine
	gvk        schema.GroupVersionKind
	object     client.Object // an empty one, to name the kind
	list       reflect.Type  // nil for unstructured kinds
	namespaced bool
	// anyNamespace says that a node of this kind may write outside its primary's namespace.
	anyNamespace bool

	mutex  sync.Mutex // of what is done once, when it has synced
	synced atomic.Bool
	store  atomic.Pointer[toolscache.Store]
}

// source returns the one source of a kind; example is an empty object of it.
func (e *Engine) source(gvk schema.GroupVersionKind, example client.Object) (*source, error) {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	if s := e.sources[gvk]; s != nil {
		return s, nil
	}
	s := &source{engine: e, gvk: gvk, object: example, namespaced: true}
	switch mapping, err := e.target.GetRESTMapper().RESTMapping(gvk.GroupKind(), gvk.Version); {
	case err == nil:
		s.namespaced = mapping.Scope.Name() == meta.RESTScopeNameNamespace
	case !meta.IsNoMatchError(err):
		return nil, fmt.Errorf("finding the scope of %s: %w", gvk.Kind, err)
	}
	if _, untyped := example.(*unstructured.Unstructured); !untyped {
		list, err := e.target.GetScheme().New(gvk.GroupVersion().WithKind(gvk.Kind + "List"))
		if err != nil {
			return nil, fmt.Errorf("finding the list type of %s: %w", gvk.Kind, err)
		}
		s.list = reflect.TypeOf(list).Elem()
	}
	err := e.target.GetCache().IndexField(context.Background(), example, s.index(), s.tracked)
	if err != nil {
		return nil, fmt.Errorf("indexing %s by its primary: %w", gvk.Kind, err)
	}
	e.sources[gvk] = s
	return s, nil
}

// index is named after the field manager, which is unique in a manager: an index can't be declared twice.
func (s *source) index() string { return s.engine.OwnerLabel() + "@" + s.engine.options.FieldManager }

// called names an object in messages.
func (s *source) called(obj client.Object) string {
	return fmt.Sprintf("%s %q", s.gvk.Kind, obj.GetName())
}

// tracked is what an object is found by: its primary and its node.
func (s *source) tracked(obj client.Object) []string {
	t := s.engine.read(obj)
	if t.owner == "" {
		return nil
	}
	return []string{t.index(), t.instance()}
}

func (s *source) key(name types.NamespacedName) overlay.Key {
	return overlay.Key{Kind: s.gvk, NamespacedName: name}
}

// ready returns why the kind can't be read now, or nil.
func (s *source) ready(ctx context.Context) error {
	if s.synced.Load() {
		return nil
	}
	informer, err := s.engine.target.GetCache().GetInformer(ctx, s.object, cache.BlockUntilSynced(false))
	if err != nil {
		return fmt.Errorf("reading %s: %w", s.gvk.Kind, err)
	}
	if !informer.HasSynced() {
		return fmt.Errorf("reading %s: its cache hasn't synced yet: may the operator list and watch it?", s.gvk.Kind)
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.synced.Load() {
		return nil
	}
	if shared, ok := informer.(toolscache.SharedIndexInformer); ok {
		store := shared.GetStore()
		s.store.Store(&store)
	} else if _, err := informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{DeleteFunc: s.ended}); err != nil {
		return fmt.Errorf("reading %s: %w", s.gvk.Kind, err)
	}
	s.synced.Store(true)
	return nil
}

// ended notes that the cache has seen the end of an object, where its version doesn't tell.
func (s *source) ended(last any) {
	if unknown, ok := last.(toolscache.DeletedFinalStateUnknown); ok {
		last = unknown.Obj
	}
	if obj, ok := last.(client.Object); ok && s.tracked(obj) != nil {
		s.engine.overlay.Deleted(obj.GetUID())
	}
}

// version returns up to which version the cache has seen everything; "" if that isn't known, as of a cache of chosen
// namespaces.
func (s *source) version() string {
	store := s.store.Load()
	if store == nil {
		return ""
	}
	return (*store).LastStoreSyncResourceVersion()
}

// hides reports whether the cache doesn't show an object that it has had the time to see.
func (s *source) hides(ctx context.Context, obj client.Object) bool {
	order, err := resourceversion.CompareResourceVersion(s.version(), obj.GetResourceVersion())
	isOld := time.Since(obj.GetCreationTimestamp().Time) > s.engine.patience
	if !isOld && (err != nil || order < 0) {
		return false
	}
	err = s.engine.target.GetCache().Get(ctx, client.ObjectKeyFromObject(obj), s.fresh(), client.UnsafeDisableDeepCopy)
	return apierrors.IsNotFound(err)
}

// get returns the newest known state of an object, or nil if there is none.
func (s *source) get(ctx context.Context, name types.NamespacedName) (client.Object, error) {
	if err := s.ready(ctx); err != nil {
		return nil, err
	}
	version := s.version() // before the read, so that what is missing was missing at this version
	obj := s.fresh()
	err := s.engine.target.GetCache().Get(ctx, name, obj, client.UnsafeDisableDeepCopy)
	switch {
	case apierrors.IsNotFound(err):
		return s.engine.overlay.Newer(s.key(name), nil, version), nil
	case err != nil:
		return nil, fmt.Errorf("reading %s %q: %w", s.gvk.Kind, name.Name, err)
	default:
		return s.engine.overlay.Newer(s.key(name), obj, version), nil
	}
}

// find returns the objects that carry the tracking of an instance, sorted by name; in one namespace, unless that is "".
func (s *source) find(ctx context.Context, t tracking, namespace string) ([]client.Object, error) {
	return s.findBy(ctx, tracking.instance, t, namespace)
}

// findAll returns those of all instances of a node.
func (s *source) findAll(ctx context.Context, t tracking, namespace string) ([]client.Object, error) {
	return s.findBy(ctx, tracking.index, t, namespace)
}

func (s *source) findBy(
	ctx context.Context, by func(tracking) string, t tracking, namespace string,
) ([]client.Object, error) {
	if err := s.ready(ctx); err != nil {
		return nil, err
	}
	version := s.version() // before the read, so that what is missing was missing at this version
	list := s.freshList()
	match := client.MatchingFields{s.index(): by(t)}
	err := s.engine.target.GetCache().List(ctx, list, match, client.InNamespace(namespace), client.UnsafeDisableDeepCopy)
	if err != nil {
		return nil, fmt.Errorf("listing %s by its primary: %w", s.gvk.Kind, err)
	}
	found := map[types.NamespacedName]client.Object{}
	err = meta.EachListItem(list, func(item runtime.Object) error {
		if obj, ok := item.(client.Object); ok && s.engine.wrote(obj) {
			name := client.ObjectKeyFromObject(obj)
			if now := s.engine.overlay.Newer(s.key(name), obj, version); by(s.engine.read(now)) == by(t) {
				found[name] = now // else it was released meanwhile
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("listing %s by its primary: %w", s.gvk.Kind, err)
	}
	s.addWritten(found, func(has tracking) bool { return by(has) == by(t) }, namespace, version)
	return slices.SortedFunc(maps.Values(found), func(a, b client.Object) int {
		return strings.Compare(a.GetNamespace()+"/"+a.GetName(), b.GetNamespace()+"/"+b.GetName())
	}), nil
}

// addWritten adds what was written and isn't in the cache yet.
func (s *source) addWritten(
	found map[types.NamespacedName]client.Object, ours func(tracking) bool, namespace, version string,
) {
	s.engine.overlay.Each(s.gvk, func(k overlay.Key, obj client.Object) {
		elsewhere := namespace != "" && k.Namespace != namespace
		if found[k.NamespacedName] != nil || elsewhere || !ours(s.engine.read(obj)) {
			return
		}
		if now := s.engine.overlay.Newer(k, nil, version); now != nil {
			found[k.NamespacedName] = now
		}
	})
}

func (s *source) fresh() client.Object {
	if s.list == nil {
		u := &unstructured.Unstructured{}
		u.SetGroupVersionKind(s.gvk)
		return u
	}
	return reflect.New(reflect.TypeOf(s.object).Elem()).Interface().(client.Object)
}

func (s *source) freshList() client.ObjectList {
	if s.list == nil {
		u := &unstructured.UnstructuredList{}
		u.SetGroupVersionKind(s.gvk.GroupVersion().WithKind(s.gvk.Kind + "List"))
		return u
	}
	return reflect.New(s.list).Interface().(client.ObjectList)
}

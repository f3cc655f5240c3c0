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
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/espalier-dev/espalier/internal/overlay"
)

// source reads the objects of one kind in one cluster from the cache, with the overlay over it. It never takes an error
// or a cache that hasn't synced for absence.
type source struct {
	engine  *Engine
	cluster string // "" is the Engine's own
	gvk     schema.GroupVersionKind
	object  client.Object // an empty one, to name the kind
	list    reflect.Type  // nil for kinds without a Go type
	// anyNamespace says that a node of this kind may write outside its primary's namespace.
	anyNamespace bool

	now       atomic.Pointer[opened]           // nil as long as it can't be read
	trouble   atomic.Pointer[error]            // why it can't, as far as is known
	mapping   atomic.Pointer[meta.RESTMapping] // nil as long as it was never served
	missed    atomic.Bool                      // somebody would have read it, or asked whether it is served
	wasOpen   atomic.Bool                      // when last looked at
	doubted   atomic.Bool                      // it may not be served any more
	asked     atomic.Bool                      // a condition asks whether it is served
	nudged    chan struct{}
	writes    atomic.Bool // some node writes it
	referrers referrers

	mutex    sync.Mutex
	prepared Target // whose informer has our index and handler
	// refusedAt is when the server first said that the kind may not be listed.
	refusedAt time.Time
}

// sourceKey names a source.
type sourceKey struct {
	cluster string
	gvk     schema.GroupVersionKind
}

// source returns the one source of a kind in a cluster; example is an empty object of it.
func (e *Engine) source(cluster string, gvk schema.GroupVersionKind, example client.Object) (*source, error) {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	key := sourceKey{cluster, gvk}
	_, untyped := example.(*unstructured.Unstructured)
	if s := e.sources[key]; s != nil {
		if untyped != (s.list == nil) {
			return nil, fmt.Errorf("%s is declared both with its Go type and unstructured: that would be two caches of "+
				"everything: declare all nodes of the kind in one way", gvk.Kind)
		}
		return s, nil
	}
	if err := e.knowsCluster(cluster); err != nil {
		return nil, err
	}
	s := &source{engine: e, cluster: cluster, gvk: gvk, object: example, nudged: make(chan struct{}, 1)}
	if !untyped {
		list, err := e.target.GetClient().Scheme().New(gvk.GroupVersion().WithKind(gvk.Kind + "List"))
		if err != nil {
			return nil, fmt.Errorf("finding the list type of %s: %w", gvk.Kind, err)
		}
		s.list = reflect.TypeOf(list).Elem()
	}
	if cluster == "" { // others may not be there yet
		if err := s.locate(e.target); err != nil && !isNotServed(err) {
			return nil, err
		}
	}
	e.sources[key] = s
	if l := e.listener.Load(); l != nil {
		go s.keep(l)
	}
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
	return []string{t.whole(), t.index(), t.instance()}
}

func (s *source) key(name types.NamespacedName) overlay.Key {
	return overlay.Key{Cluster: s.cluster, Kind: s.gvk, NamespacedName: name}
}

// version returns up to which version the cache has seen everything; "" if that isn't known, as of a cache of chosen
// namespaces.
func (o *opened) version() string {
	if o.store == nil {
		return ""
	}
	return o.store.LastStoreSyncResourceVersion()
}

// hides reports whether the cache doesn't show an object that it has had the time to see.
func (s *source) hides(ctx context.Context, obj client.Object) bool {
	now := s.now.Load()
	if now == nil {
		return false
	}
	order, err := resourceversion.CompareResourceVersion(now.version(), obj.GetResourceVersion())
	isOld := time.Since(obj.GetCreationTimestamp().Time) > s.engine.patience
	if !isOld && (err != nil || order < 0) {
		return false
	}
	err = now.target.GetCache().Get(ctx, client.ObjectKeyFromObject(obj), s.fresh(), client.UnsafeDisableDeepCopy)
	return apierrors.IsNotFound(err)
}

// get returns the newest known state of an object, or nil if there is none.
func (s *source) get(ctx context.Context, name types.NamespacedName) (client.Object, error) {
	now, err := s.ready(ctx)
	if err != nil {
		return nil, err
	}
	version := now.version() // before the read, so that what is missing was missing at this version
	obj := s.fresh()
	err = now.target.GetCache().Get(ctx, name, obj, client.UnsafeDisableDeepCopy)
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
	now, err := s.ready(ctx)
	if err != nil {
		return nil, err
	}
	version := now.version() // before the read, so that what is missing was missing at this version
	list := s.freshList()
	match := client.MatchingFields{s.index(): by(t)}
	err = now.target.GetCache().List(ctx, list, match, client.InNamespace(namespace), client.UnsafeDisableDeepCopy)
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
	s.engine.overlay.Each(s.cluster, s.gvk, func(k overlay.Key, obj client.Object) {
		elsewhere := namespace != "" && k.Namespace != namespace
		if found[k.NamespacedName] != nil || elsewhere || !ours(s.engine.read(obj)) {
			return
		}
		if now := s.engine.overlay.Newer(k, nil, version); now != nil {
			found[k.NamespacedName] = now
		}
	})
}

func (s *source) fresh() client.Object { return freshLike(s.object, s.gvk) }

// freshLike returns an empty object of the same type and kind.
func freshLike(example client.Object, gvk schema.GroupVersionKind) client.Object {
	if _, untyped := example.(*unstructured.Unstructured); untyped {
		u := &unstructured.Unstructured{}
		u.SetGroupVersionKind(gvk)
		return u
	}
	return reflect.New(reflect.TypeOf(example).Elem()).Interface().(client.Object)
}

func (s *source) freshList() client.ObjectList {
	if s.list == nil {
		u := &unstructured.UnstructuredList{}
		u.SetGroupVersionKind(s.gvk.GroupVersion().WithKind(s.gvk.Kind + "List"))
		return u
	}
	return reflect.New(s.list).Interface().(client.ObjectList)
}

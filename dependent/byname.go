// SPDX-License-Identifier: Apache-2.0

package dependent

import (
	"context"
	"fmt"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// ByName makes a [Reference] watch its one object, instead of all of the kind: for a Secret among thousands, or where
// the operator may read that one only. It costs a watch for each object that is referred to, as long as it is. The
// first look is a request. In a reconciler that is written by hand and doesn't call [Engine.Watch] every look is one.
func (h *Referenced[P, V]) ByName() *Referenced[P, V] {
	h.byName = true
	return h
}

// loneKey names an object that is watched by itself.
type loneKey struct {
	cluster string
	gvk     schema.GroupVersionKind
	name    types.NamespacedName
}

// lone watches one object.
type lone struct {
	target    Target
	informer  toolscache.SharedIndexInformer
	stop      context.CancelFunc
	referrers map[referrer]bool
}

// lones are all objects that are watched by themselves. The zero value is empty.
type lones struct {
	mutex sync.Mutex
	all   map[loneKey]*lone
	of    map[referrer]loneKey
}

// loneSource reads objects of one kind in one cluster by themselves.
type loneSource struct {
	engine  *Engine
	cluster string
	gvk     schema.GroupVersionKind
	example client.Object
}

// lookup reads the object for a referrer.
func (s *loneSource) lookup(
	ctx context.Context, who referrer, name client.ObjectKey, home string,
) (client.Object, error) {
	target, err := s.engine.clusterOf(s.cluster)
	if err != nil {
		return nil, err
	}
	if name, err = s.place(target, name, home); err != nil {
		return nil, err
	}
	obj, isWatched, err := s.watched(target, who, name)
	if err != nil || isWatched {
		return obj, err
	}
	return s.read(ctx, target, name)
}

// watched returns what the watch of an object has seen, if it has begun.
func (s *loneSource) watched(in Target, who referrer, name client.ObjectKey) (_ client.Object, ok bool, err error) {
	l := s.engine.listener.Load()
	if l == nil {
		return nil, false, nil
	}
	informer, err := s.watch(l, in, who, name)
	if err != nil {
		return nil, false, fmt.Errorf("watching %s %q: %w", s.gvk.Kind, name.Name, err)
	}
	if !informer.HasSynced() {
		return nil, false, nil
	}
	for _, found := range informer.GetStore().List() {
		if obj, ok := found.(client.Object); ok {
			return obj, true, nil
		}
	}
	return nil, true, nil
}

// read asks the API server.
func (s *loneSource) read(ctx context.Context, in Target, name client.ObjectKey) (client.Object, error) {
	obj := freshLike(s.example, s.gvk)
	switch err := in.GetAPIReader().Get(ctx, name, obj); {
	case isUnknownPath(err):
		return nil, s.notServed()
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, classify(s.gvk.GroupKind(), fmt.Sprintf("reading %s %q", s.gvk.Kind, name.Name), err)
	}
	return obj, nil
}

// watch returns the informer of an object for a referrer, and lets go the one that it had before.
func (s *loneSource) watch(
	l *listener, target Target, who referrer, name types.NamespacedName,
) (toolscache.SharedIndexInformer, error) {
	in, key := &s.engine.lones, loneKey{s.cluster, s.gvk, name}
	in.mutex.Lock()
	defer in.mutex.Unlock()
	known := in.all[key]
	if known != nil && known.target == target && known.referrers[who] {
		return known.informer, nil
	}
	if before, ok := in.of[who]; ok && before != key {
		in.leave(who)
	}
	if known == nil || known.target != target {
		fresh, err := s.begin(l, target, key)
		if err != nil {
			return nil, err
		}
		if known != nil {
			known.stop()
			fresh.referrers = known.referrers
		}
		if in.all == nil {
			in.all, in.of = map[loneKey]*lone{}, map[referrer]loneKey{}
		}
		in.all[key], known = fresh, fresh
	}
	known.referrers[who], in.of[who] = true, key
	return known.informer, nil
}

// begin starts an informer of one object.
func (s *loneSource) begin(l *listener, in Target, key loneKey) (*lone, error) {
	c, err := client.NewWithWatch(in.GetConfig(), client.Options{
		HTTPClient: in.GetHTTPClient(), Scheme: in.GetClient().Scheme(), Mapper: in.GetClient().RESTMapper(),
	})
	if err != nil {
		return nil, err
	}
	list, err := s.freshList(in)
	if err != nil {
		return nil, err
	}
	selector := fields.OneTermEqualSelector(metav1.ObjectNameField, key.name.Name)
	options := func(given metav1.ListOptions) client.ListOption {
		return &client.ListOptions{Namespace: key.name.Namespace, FieldSelector: selector, Raw: &given}
	}
	informer := toolscache.NewSharedIndexInformer(&toolscache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, given metav1.ListOptions) (runtime.Object, error) {
			into := list.DeepCopyObject().(client.ObjectList)
			return into, c.List(ctx, into, options(given))
		},
		WatchFuncWithContext: func(ctx context.Context, given metav1.ListOptions) (watch.Interface, error) {
			return c.Watch(ctx, list.DeepCopyObject().(client.ObjectList), options(given))
		},
	}, s.example, 0, toolscache.Indexers{})
	tell := func(any) { s.engine.lones.tell(l, key) }
	_, err = informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
		AddFunc: tell, UpdateFunc: func(any, any) { tell(nil) }, DeleteFunc: tell,
	})
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(l.ctx)
	go informer.RunWithContext(ctx)
	return &lone{target: in, informer: informer, stop: stop, referrers: map[referrer]bool{}}, nil
}

func (s *loneSource) freshList(in Target) (client.ObjectList, error) {
	gvk := s.gvk.GroupVersion().WithKind(s.gvk.Kind + "List")
	if _, untyped := s.example.(*unstructured.Unstructured); untyped {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(gvk)
		return list, nil
	}
	made, err := in.GetClient().Scheme().New(gvk)
	if err != nil {
		return nil, err
	}
	list, ok := made.(client.ObjectList)
	if !ok {
		return nil, fmt.Errorf("%T is no list", made)
	}
	return list, nil
}

// tell wakes the primaries that refer to an object.
func (in *lones) tell(l *listener, key loneKey) {
	in.mutex.Lock()
	defer in.mutex.Unlock()
	if known := in.all[key]; known != nil {
		for who := range known.referrers {
			l.changed(who.primary)
		}
	}
}

// leave ends what is watched for a referrer alone.
func (in *lones) leave(who referrer) {
	key := in.of[who]
	delete(in.of, who)
	if known := in.all[key]; known != nil {
		delete(known.referrers, who)
		if len(known.referrers) == 0 {
			known.stop()
			delete(in.all, key)
		}
	}
}

// forget ends what is watched for a primary alone.
func (in *lones) forget(primary types.UID) {
	in.mutex.Lock()
	defer in.mutex.Unlock()
	for who := range in.of {
		if who.primary == primary {
			in.leave(who)
		}
	}
}

// place puts a key into the namespace where it is.
func (s *loneSource) place(in Target, key client.ObjectKey, home string) (client.ObjectKey, error) {
	mapping, err := in.GetClient().RESTMapper().RESTMapping(s.gvk.GroupKind(), s.gvk.Version)
	switch {
	case meta.IsNoMatchError(err):
		return key, s.notServed()
	case err != nil:
		return key, fmt.Errorf("finding the scope of %s: %w", s.gvk.Kind, err)
	case mapping.Scope.Name() != meta.RESTScopeNameNamespace:
		key.Namespace = ""
	case key.Namespace == "":
		key.Namespace = home
	}
	return key, nil
}

func (s *loneSource) notServed() error {
	return &notServedError{s.gvk.GroupKind().String() + " in version " + s.gvk.Version}
}

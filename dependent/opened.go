// SPDX-License-Identifier: Apache-2.0

package dependent

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// opened is a source that can be read.
type opened struct {
	target Target
	store  toolscache.Store // nil if there is more than one
}

// ready returns what can be read now, or why nothing can. Where a listener keeps trying, it sends no request.
func (s *source) ready(ctx context.Context) (*opened, error) {
	if now := s.now.Load(); now != nil && s.cluster == "" {
		return now, nil
	}
	if known := s.trouble.Load(); known != nil && s.engine.listener.Load() != nil {
		s.missed.Store(true)
		return nil, *known
	}
	now, err := s.open(ctx)
	if err != nil {
		s.missed.Store(true)
	}
	return now, err
}

// open makes the source readable, if it can be.
func (s *source) open(ctx context.Context) (*opened, error) {
	target, err := s.engine.clusterOf(s.cluster)
	if err != nil {
		return nil, err
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if err := s.prepare(ctx, target); err != nil {
		return nil, err
	}
	if now := s.now.Load(); now != nil && now.target == target {
		return now, nil
	}
	informer, err := target.GetCache().GetInformer(ctx, s.object, cache.BlockUntilSynced(false))
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", s.gvk.Kind, err)
	}
	if !informer.HasSynced() {
		return nil, fmt.Errorf("reading %s: its cache hasn't synced yet: may the operator list and watch it?", s.gvk.Kind)
	}
	now := &opened{target: target}
	if shared, ok := informer.(toolscache.SharedIndexInformer); ok {
		now.store = shared.GetStore()
	}
	s.now.Store(now)
	s.trouble.Store(nil)
	return now, nil
}

// prepare starts an informer with our index and handler, once the manager has started.
func (s *source) prepare(ctx context.Context, target Target) error {
	if s.doubted.Load() {
		if err := s.discover(ctx, target); err != nil {
			return s.shut(ctx, err)
		}
		s.doubted.Store(false)
	}
	if s.prepared == target {
		return nil
	}
	if err := s.locate(target); err != nil {
		return s.shut(ctx, s.confirmed(ctx, target, err))
	}
	if err := s.admitted(ctx, target); err != nil {
		return err
	}
	if err := target.GetCache().IndexField(ctx, s.object, s.index(), s.tracked); err != nil {
		return fmt.Errorf("indexing %s by its primary: %w", s.gvk.Kind, err)
	}
	informer, err := target.GetCache().GetInformer(ctx, s.object, cache.BlockUntilSynced(false))
	if err != nil {
		return fmt.Errorf("reading %s: %w", s.gvk.Kind, err)
	}
	_, isSingle := informer.(toolscache.SharedIndexInformer)
	if _, err := informer.AddEventHandler(s.handler(isSingle)); err != nil {
		return fmt.Errorf("watching %s: %w", s.gvk.Kind, err)
	}
	s.prepared = target
	return nil
}

// locate finds the kind's scope.
func (s *source) locate(in Target) error {
	mapping, err := in.GetClient().RESTMapper().RESTMapping(s.gvk.GroupKind(), s.gvk.Version)
	switch {
	case meta.IsNoMatchError(err):
		return s.notServed()
	case err != nil:
		return fmt.Errorf("finding the scope of %s: %w", s.gvk.Kind, err)
	}
	s.mapping.Store(mapping)
	return nil
}

// confirmed asks whether a kind that a mapper doesn't know isn't served indeed.
func (s *source) confirmed(ctx context.Context, in Target, err error) error {
	if !isNotServed(err) {
		return err
	}
	if err := s.discover(ctx, in); err != nil {
		return err
	}
	return fmt.Errorf("reading %s: it is about to be served", s.gvk.Kind)
}

// shut forgets the informer of a kind that isn't served: it would try for ever to list it. Any other error says nothing
// of what can be read.
func (s *source) shut(ctx context.Context, err error) error {
	if !isNotServed(err) {
		return err
	}
	if now := s.now.Swap(nil); now != nil {
		// It fails only for a kind that the scheme doesn't know.
		_ = now.target.GetCache().RemoveInformer(ctx, s.object)
	}
	s.prepared = nil
	s.trouble.Store(&err)
	return err
}

// handler passes on what the cache learns. Where the cache has one store, whose version tells what it has seen, an end
// need not be noted: it may only be the end of being selected.
func (s *source) handler(hasVersion bool) toolscache.ResourceEventHandler {
	return toolscache.ResourceEventHandlerFuncs{
		AddFunc: func(obj any) {
			if obj, ok := obj.(client.Object); ok {
				s.engine.appeared(obj)
			}
			s.changed(obj)
		},
		UpdateFunc: func(before, after any) {
			old, isObject := before.(client.Object)
			now, ok := after.(client.Object)
			if isObject && ok && old.GetResourceVersion() == now.GetResourceVersion() {
				return // a resync: nothing has happened
			}
			s.changed(before)
			s.changed(after)
		},
		DeleteFunc: func(last any) {
			if unknown, ok := last.(toolscache.DeletedFinalStateUnknown); ok {
				last = unknown.Obj
			}
			if !hasVersion {
				s.ended(last)
			}
			s.changed(last)
		},
	}
}

// ended notes that the cache has seen the end of an object, where its version doesn't tell.
func (s *source) ended(last any) {
	if obj, ok := last.(client.Object); ok && s.tracked(obj) != nil {
		s.engine.overlay.Deleted(obj.GetUID())
	}
}

func (s *source) changed(obj any) {
	l := s.engine.listener.Load()
	object, ok := obj.(client.Object)
	if !ok || l == nil {
		return
	}
	if t := s.engine.read(object); t.owner != "" {
		l.changed(t.owner)
	}
	for _, primary := range s.referrers.of(object) {
		l.changed(primary)
	}
}

// isNamespaced reports the kind's scope; a kind that has never been served is taken for the narrower one.
func (s *source) isNamespaced() bool {
	mapping := s.mapping.Load()
	return mapping == nil || mapping.Scope.Name() == meta.RESTScopeNameNamespace
}

// SPDX-License-Identifier: Apache-2.0

package dependent

import (
	"context"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// bringers are the kinds whose objects bring and take other kinds: their names end in the group.
func bringers() []schema.GroupVersionKind {
	return []schema.GroupVersionKind{
		{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"},
		{Group: "apiregistration.k8s.io", Version: "v1", Kind: "APIService"},
	}
}

// watchKinds reports whether one is told which kinds come and go in the cluster of a source. It watches the metadata of
// their bringers there, if the operator may: then every change in a group nudges that group's sources.
func (e *Engine) watchKinds(ctx context.Context, s *source) bool {
	target, err := e.clusterOf(s.cluster)
	if err != nil {
		return false
	}
	e.kinds.Lock()
	defer e.kinds.Unlock()
	told, known := e.kinds.told[target]
	if known {
		return told
	}
	told = true
	for _, kind := range bringers() {
		may, err := mayList(ctx, target, kind)
		if err != nil {
			return false // it may be known next time
		}
		told = told && may
		if may && e.watchBringer(ctx, target, s.cluster, kind) != nil {
			return false
		}
	}
	e.kinds.told[target] = told
	return told
}

func mayList(ctx context.Context, target Target, kind schema.GroupVersionKind) (bool, error) {
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
	err := target.GetAPIReader().List(ctx, list, client.Limit(1))
	if apierrors.IsForbidden(err) {
		return false, nil
	}
	return err == nil, err
}

func (e *Engine) watchBringer(ctx context.Context, target Target, in string, kind schema.GroupVersionKind) error {
	example := &metav1.PartialObjectMetadata{}
	example.SetGroupVersionKind(kind)
	informer, err := target.GetCache().GetInformer(ctx, example, cache.BlockUntilSynced(false))
	if err != nil {
		return err
	}
	changed := func(obj any) {
		if obj, ok := obj.(client.Object); ok {
			_, group, _ := strings.Cut(obj.GetName(), ".")
			e.nudgeGroup(in, group)
		}
	}
	_, err = informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
		AddFunc:    changed, // also of what is there already: it may have come since one looked
		UpdateFunc: func(_, obj any) { changed(obj) },
		DeleteFunc: func(last any) {
			if unknown, ok := last.(toolscache.DeletedFinalStateUnknown); ok {
				last = unknown.Obj
			}
			changed(last)
		},
	})
	return err
}

func (e *Engine) nudgeGroup(cluster, group string) {
	for _, s := range e.all() {
		if s.cluster == cluster && s.gvk.Group == group {
			s.doubted.Store(true)
			s.nudge()
		}
	}
}

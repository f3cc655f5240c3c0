// SPDX-License-Identifier: Apache-2.0

package dependent

import (
	"reflect"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Graph is a workflow, whatever its primary.
type Graph interface {
	Kinds() []any
	Primary() any
}

// CacheOptions returns options for a manager whose operator runs some graphs: of each kind that their nodes write and
// nobody else in the operator reads, the cache holds only what carries our tracking, without the managed fields of
// others. What exists already and is to be adopted is found by a request then. Kinds to which a [Reference] refers, and
// the primaries', are held whole. Of the [EngineOptions] it needs what the engine, or the reconciler by its name, gets:
// FieldManager, FormerManagers and Prefix. Other parts of the program that read such a kind from the same cache see the
// narrowed one: take it out of ByObject.
func CacheOptions(o EngineOptions, graphs ...Graph) cache.Options {
	written, whole := map[cacheKey]cached{}, map[cacheKey]bool{}
	for _, g := range graphs {
		if primary, ok := g.Primary().(client.Object); ok {
			whole[cacheKeyOf(primary)] = true
		}
		for _, kind := range g.Kinds() {
			k, ok := kind.(interface{ caches() []cached })
			if !ok {
				continue
			}
			for _, c := range k.caches() {
				key := cacheKeyOf(c.example)
				whole[key] = whole[key] || c.whole
				c.reports = c.reports || written[key].reports
				written[key] = c
			}
		}
	}
	out := cache.Options{ByObject: map[client.Object]cache.ByObject{}}
	for key, c := range written {
		if whole[key] {
			continue
		}
		by := cache.ByObject{Label: tracked(o)}
		if !c.reports {
			by.Transform = KeepOwnFields(append([]string{o.FieldManager}, o.FormerManagers...)...)
		}
		out.ByObject[c.example] = by
	}
	return out
}

// tracked selects what an engine tracks.
func tracked(o EngineOptions) labels.Selector {
	e := Engine{options: o.withDefaults()}
	exists, err := labels.NewRequirement(e.OwnerLabel(), selection.Exists, nil)
	if err != nil {
		return labels.Everything() // NewEngine says what is wrong with the prefix
	}
	return labels.NewSelector().Add(*exists)
}

// cached is what a kind of node wants of the cache.
type cached struct {
	example client.Object
	whole   bool // also what isn't ours
	reports bool // it needs to know what others manage
}

// cacheKey tells kinds apart, as a cache does.
type cacheKey struct {
	of      reflect.Type
	untyped string
}

func cacheKeyOf(example client.Object) cacheKey {
	key := cacheKey{of: reflect.TypeOf(example)}
	if u, ok := example.(*unstructured.Unstructured); ok && u != nil {
		key.untyped = u.GroupVersionKind().String()
	}
	return key
}

func (k *objectKind[P, T]) caches() []cached {
	if k.policy.cluster != "" {
		return nil
	}
	all := []cached{{example: k.example, reports: k.policy.drift == Report}}
	for _, example := range k.policy.formerKinds {
		all = append(all, cached{example: example})
	}
	return all
}

func (k *taskKind[P, T]) caches() []cached {
	return append(k.objectKind.caches(), cached{example: &corev1.ConfigMap{}})
}

func (k referenceKind[P, T]) caches() []cached {
	if k.handle.cluster != "" || k.handle.byName {
		return nil
	}
	return []cached{{example: k.example, whole: true}}
}

func (k referencesKind[P, T]) caches() []cached {
	if k.handle.cluster != "" {
		return nil
	}
	return []cached{{example: k.example, whole: true}}
}

// SPDX-License-Identifier: Apache-2.0

package overlay

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// patience is how long an entry is kept that nothing can be compared with.
const patience = 30 * time.Second

// Key names an object.
type Key struct {
	Cluster string // "" is the one that the operator's objects are in
	Kind    schema.GroupVersionKind
	types.NamespacedName
}

// Overlay keeps the answers of writes. The zero value is empty and ready to use; it is safe for concurrent use.
type Overlay struct {
	mutex   sync.Mutex
	entries map[Key]entry
	deleted map[types.UID]time.Time
}

type entry struct {
	object client.Object
	at     time.Time
}

// Put keeps the answer of a write, which must not be changed any more.
func (o *Overlay) Put(k Key, object client.Object) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	if o.entries == nil {
		o.entries = map[Key]entry{}
	}
	for old, e := range o.entries { // what nobody reads any more; there are few entries at any time
		if time.Since(e.at) > 2*patience {
			delete(o.entries, old)
		}
	}
	o.entries[k] = entry{object: object, at: time.Now()}
}

// Drop forgets the answers for an object, since it was found to be gone or replaced.
func (o *Overlay) Drop(k Key) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	delete(o.entries, k)
}

// Deleted notes that the object with this UID was deleted, whatever a cache says.
func (o *Overlay) Deleted(uid types.UID) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	if o.deleted == nil {
		o.deleted = map[types.UID]time.Time{}
	}
	for old, at := range o.deleted {
		if time.Since(at) > patience {
			delete(o.deleted, old)
		}
	}
	o.deleted[uid] = time.Now()
}

// IsDeleted reports whether the object with this UID was deleted lately.
func (o *Overlay) IsDeleted(uid types.UID) bool {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	at, ok := o.deleted[uid]
	return ok && time.Since(at) <= patience
}

// Newer returns the newer of what a cache has, or nil, and what was written; nil if there is neither. The cache as a
// whole has seen everything up to version synced; "" if that isn't known.
func (o *Overlay) Newer(k Key, cached client.Object, synced string) client.Object {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	e, ok := o.entries[k]
	if !ok {
		return cached
	}
	if _, gone := o.deleted[e.object.GetUID()]; gone {
		delete(o.entries, k)
		return cached
	}
	seen := synced
	if cached != nil {
		seen = cached.GetResourceVersion()
	}
	order, err := resourceversion.CompareResourceVersion(seen, e.object.GetResourceVersion())
	if err == nil && order >= 0 || err != nil && time.Since(e.at) > patience {
		delete(o.entries, k)
		return cached
	}
	return e.object
}

// Each calls visit with every entry of a kind in a cluster.
func (o *Overlay) Each(cluster string, kind schema.GroupVersionKind, visit func(Key, client.Object)) {
	o.mutex.Lock()
	var keys []Key
	var objects []client.Object
	for k, e := range o.entries {
		if k.Cluster == cluster && k.Kind == kind {
			keys, objects = append(keys, k), append(objects, e.object)
		}
	}
	o.mutex.Unlock()
	for i := range keys {
		visit(keys[i], objects[i])
	}
}

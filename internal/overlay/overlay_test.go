// SPDX-License-Identifier: Apache-2.0

package overlay_test

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/espalier-dev/espalier/internal/overlay"
)

// longer than an entry is kept with which nothing can be compared.
const longer = 31 * time.Second

func TestNewer(t *testing.T) { // R32 F1 F16
	tests := []struct {
		name    string
		written string // version of the write; "" = none
		cached  string // version in the cache; "" = it isn't there
		synced  string // what the cache has seen
		want    string // version; "" = nothing
		kept    bool   // the entry, once a cache has shown nothing and knows nothing
	}{
		{name: "nothing is known"},
		{name: "nothing was written", cached: "5", synced: "9", want: "5"},
		{name: "the cache is behind", written: "7", cached: "5", synced: "6", want: "7", kept: true},
		{name: "the cache is behind by a digit", written: "10", cached: "9", synced: "9", want: "10", kept: true},
		{name: "the cache has caught up", written: "7", cached: "7", synced: "7", want: "7"},
		{name: "the cache is ahead", written: "7", cached: "8", synced: "9", want: "8"},
		{name: "created, and not seen yet", written: "7", synced: "6", want: "7", kept: true},
		{name: "created, seen and gone", written: "7", synced: "7"},
		{name: "created, and gone long since", written: "7", synced: "9"},
		{name: "the cache doesn't know what it has seen", written: "7", want: "7", kept: true},
		{name: "another item moved the cache, this one is behind", written: "7", cached: "5", synced: "9", want: "7", kept: true},
		{name: "versions that can't be compared", written: "7a", cached: "8a", synced: "9a", want: "7a", kept: true},
		{name: "a version of zero", written: "7", cached: "0", want: "7", kept: true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var o overlay.Overlay
			if test.written != "" {
				o.Put(key("a"), object("a", test.written))
			}
			if got := version(o.Newer(key("a"), object("a", test.cached), test.synced)); got != test.want {
				t.Errorf("got version %q, want %q", got, test.want)
			}
			if kept := o.Newer(key("a"), nil, "") != nil; kept != test.kept {
				t.Errorf("kept = %t, want %t", kept, test.kept)
			}
		})
	}
}

func TestNewerIsPatient(t *testing.T) { // R32
	tests := []struct {
		name                    string
		written, cached, synced string
		want                    string // after a while
	}{
		{name: "versions that can't be compared", written: "7a", cached: "8a", synced: "9a", want: "8a"},
		{name: "versions that can't be compared, and it isn't there", written: "7a", synced: "9a"},
		{name: "hidden by the cache's selector, and nothing is known", written: "7"},
		{name: "behind for a long time", written: "7", cached: "5", synced: "6", want: "7"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var o overlay.Overlay
				o.Put(key("a"), object("a", test.written))
				for range 10 {
					if got := version(o.Newer(key("a"), object("a", test.cached), test.synced)); got != test.written {
						t.Fatalf("at first: got version %q, want %q", got, test.written)
					}
					time.Sleep(2 * time.Second)
				}
				time.Sleep(longer)
				if got := version(o.Newer(key("a"), object("a", test.cached), test.synced)); got != test.want {
					t.Errorf("after a while: got version %q, want %q", got, test.want)
				}
			})
		})
	}
}

func TestNewerAfterTheEnd(t *testing.T) { // R32
	var o overlay.Overlay
	for uid, want := range map[types.UID]string{"1": "", "2": "7"} {
		written := object("a", "7")
		written.SetUID(uid)
		o.Put(key("a"), written)
		o.Deleted("1")
		if got := version(o.Newer(key("a"), nil, "")); got != want {
			t.Errorf("UID %s: got version %q, want %q", uid, got, want)
		}
	}
}

func TestPutReplaces(t *testing.T) { // R32
	var o overlay.Overlay
	o.Put(key("a"), object("a", "7"))
	o.Put(key("a"), object("a", "9"))
	o.Put(key("b"), object("b", "8"))
	for name, want := range map[string]string{"a": "9", "b": "8", "c": ""} {
		if got := version(o.Newer(key(name), nil, "6")); got != want {
			t.Errorf("%s: got version %q, want %q", name, got, want)
		}
	}
}

func TestDrop(t *testing.T) { // R33
	var o overlay.Overlay
	o.Drop(key("a"))
	o.Put(key("a"), object("a", "7"))
	o.Drop(key("a"))
	if got := o.Newer(key("a"), object("a", "5"), "5"); version(got) != "5" {
		t.Errorf("got version %q, want what the cache has", version(got))
	}
}

func TestTombstones(t *testing.T) { // R32 F17
	synctest.Test(t, func(t *testing.T) {
		var o overlay.Overlay
		if o.IsDeleted("1") {
			t.Error("deleted without a deletion")
		}
		o.Deleted("1")
		time.Sleep(20 * time.Second)
		o.Deleted("2")
		if !o.IsDeleted("1") || !o.IsDeleted("2") || o.IsDeleted("3") {
			t.Error("tombstones are by UID, and stand for a while")
		}
		time.Sleep(20 * time.Second)
		if o.IsDeleted("1") || !o.IsDeleted("2") {
			t.Error("each tombstone has its own time")
		}
		time.Sleep(longer)
		if o.IsDeleted("2") {
			t.Error("a tombstone stands for ever")
		}
	})
}

func TestEach(t *testing.T) { // R40
	var o overlay.Overlay
	for _, name := range []string{"a", "b", "c"} {
		o.Put(key(name), object(name, "7"))
	}
	other := key("a")
	other.Kind = corev1.SchemeGroupVersion.WithKind("Secret")
	o.Put(other, &corev1.Secret{})
	found := map[string]bool{}
	o.Each("", key("").Kind, func(k overlay.Key, obj client.Object) {
		found[k.Name] = obj.GetName() == k.Name
		o.Drop(k) // no lock is held
	})
	if want := map[string]bool{"a": true, "b": true, "c": true}; !maps.Equal(found, want) {
		t.Errorf("visited %v, want %v", found, want)
	}
}

// Each writer reads at least what it has written, whoever else is about.
func TestConcurrentUse(t *testing.T) { // R32
	var o overlay.Overlay
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() {
			own := key(fmt.Sprintf("own-%d", w))
			for i := 1; i < 300; i++ {
				written := strconv.Itoa(10 * i)
				o.Put(own, object(own.Name, written))
				o.Put(key("shared"), object("shared", written))
				if got := version(o.Newer(own, object(own.Name, strconv.Itoa(10*i-5)), "")); got != written {
					t.Errorf("got version %s, want %s", got, written)
					return
				}
				uid := types.UID(own.Name + written)
				o.Deleted(uid)
				if !o.IsDeleted(uid) {
					t.Error("a tombstone is missing")
				}
				o.Newer(key("shared"), object("shared", written), written)
				o.Each("", own.Kind, func(overlay.Key, client.Object) {})
				o.Drop(own)
			}
		})
	}
	wg.Wait()
	left := []string{}
	o.Each("", key("").Kind, func(k overlay.Key, _ client.Object) { left = append(left, k.Name) })
	slices.Sort(left)
	if len(left) > 1 {
		t.Errorf("left over: %v", left)
	}
}

func key(name string) overlay.Key {
	return overlay.Key{
		Kind:           corev1.SchemeGroupVersion.WithKind("ConfigMap"),
		NamespacedName: types.NamespacedName{Namespace: "default", Name: name},
	}
}

// object has the given version; without one there is no object.
func object(name, version string) client.Object {
	if version == "" {
		return nil
	}
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, ResourceVersion: version}}
}

func version(obj client.Object) string {
	if obj == nil {
		return ""
	}
	return obj.GetResourceVersion()
}

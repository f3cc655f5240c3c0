// SPDX-License-Identifier: Apache-2.0

package owned_test

import (
	"fmt"
	"hash/fnv"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"pgregory.net/rapid"

	"github.com/espalier-dev/espalier/internal/owned"
)

// However many have written an object before: what is judged unchanged is left unchanged by the server.
func TestUnchangedIsNeverWrong(t *testing.T) { rapid.Check(t, neverWrong) } // R31

func FuzzUnchangedIsNeverWrong(f *testing.F) { f.Fuzz(rapid.MakeFuzz(neverWrong)) } // R31

func neverWrong(t *rapid.T) {
	kind := rapid.SampledFrom([]schema.GroupVersionKind{configMaps, services, deployments, gadgets}).Draw(t, "kind")
	s := newServer(kind)
	intent := intentOf(t, kind, "first")
	must(t, s, us, intent)
	for i := range rapid.IntRange(0, 3).Draw(t, "writes") {
		switch label := fmt.Sprintf("write %d", i); rapid.IntRange(0, 2).Draw(t, label) {
		case 0:
			intent = intentOf(t, kind, label)
			must(t, s, us, intent)
		case 1:
			must(t, s, them, intentOf(t, kind, label))
		default:
			theirs := intentOf(t, kind, label)
			if err := s.update(them, func(fields map[string]any) { merge(fields, theirs) }); err != nil {
				t.Fatalf("updating with %v: %v", theirs, err)
			}
		}
	}
	if rapid.Bool().Draw(t, "changed") {
		intent = intentOf(t, kind, "last")
	}
	before := s.live.DeepCopy()
	unchanged, err := s.judge(intent)
	if err != nil {
		t.Fatalf("judging %v: %v", intent, err)
	}
	changed, err := s.apply(us, intent)
	if err != nil {
		t.Fatalf("applying %v: %v", intent, err)
	}
	if unchanged && changed {
		t.Fatalf("the intent\n%v\nis judged unchanged, but it changes\n%v\nto\n%v", intent, before.Object, s.live.Object)
	}
}

// What has just been applied is seen to be in order. What the world here lacks are values that the server fills in inside
// of what is owned as a whole, and items that only a defaulted key field tells apart.
func TestAppliedIsUnchanged(t *testing.T) { // R31
	rapid.Check(t, func(t *rapid.T) {
		kind := rapid.SampledFrom([]schema.GroupVersionKind{configMaps, services, deployments, gadgets}).Draw(t, "kind")
		s := newServer(kind)
		intent := intentOf(t, kind, "intent")
		must(t, s, us, intent)
		unchanged, err := s.judge(intent)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := s.apply(us, intent); err != nil || again {
			t.Fatalf("the same intent again: changed = %t, %v", again, err)
		}
		if !unchanged && s.live.GetManagedFields() != nil {
			t.Fatalf("the intent\n%v\nisn't seen in\n%v", intent, s.live.Object)
		}
	})
}

// Equal digests mean equal judgements: what the server has called the same stays the same (L2b).
func TestDigestTellsDriftApart(t *testing.T) { // R31
	rapid.Check(t, func(t *rapid.T) {
		kind := rapid.SampledFrom([]schema.GroupVersionKind{configMaps, services, deployments, gadgets}).Draw(t, "kind")
		s := newServer(kind)
		intent := intentOf(t, kind, "intent")
		must(t, s, us, intent)
		before := digest(t, s)
		theirs := intentOf(t, kind, "theirs")
		if err := s.update(them, func(fields map[string]any) { merge(fields, theirs) }); err != nil {
			t.Fatal(err)
		}
		same := digest(t, s) == before
		changed, err := s.apply(us, intent)
		if err != nil {
			t.Fatal(err)
		}
		if same && changed {
			t.Fatalf("the intent\n%v\nis changed by\n%v\nand the digest is the same", intent, theirs)
		}
	})
}

func digest(t *rapid.T, s *server) uint64 {
	entry := owned.Entry(s.live.GetManagedFields(), us, "", s.gvk.GroupVersion().String())
	if entry == nil {
		return 0
	}
	set, err := owned.Parse(entry)
	if err != nil {
		t.Fatal(err)
	}
	h := fnv.New64a()
	_, _ = h.Write(entry)
	owned.Digest(h, set, s.live.Object)
	return h.Sum64()
}

func must(t *rapid.T, s *server, manager string, intent map[string]any) {
	if _, err := s.apply(manager, intent); err != nil {
		t.Fatalf("applying %v: %v", intent, err)
	}
}

// intentOf draws an intent from a small world, so that what is drawn later meets what was drawn before.
func intentOf(t *rapid.T, kind schema.GroupVersionKind, label string) map[string]any {
	fields := map[string]any{}
	maybe(t, fields, "metadata", func() any {
		return map[string]any{"labels": textMap().Draw(t, "labels")}
	})
	switch kind {
	case configMaps:
		maybe(t, fields, "data", func() any { return textMap().Draw(t, "data") })
	case services:
		spec := map[string]any{"ports": listOf(t, "ports", port)}
		maybe(t, spec, "selector", func() any { return textMap().Draw(t, "selector") })
		fields["spec"] = spec
	case deployments:
		pod := map[string]any{"containers": listOf(t, "containers", container)}
		maybe(t, pod, "nodeSelector", func() any { return textMap().Draw(t, "nodes") })
		spec := map[string]any{"template": map[string]any{"spec": pod}}
		maybe(t, spec, "replicas", func() any { return rapid.Int64Range(0, 2).Draw(t, "replicas") })
		fields["spec"] = spec
	default:
		fields["spec"] = map[string]any{"any": anything(2).Draw(t, label)}
	}
	return runtime.DeepCopyJSON(fields)
}

func maybe(t *rapid.T, into map[string]any, key string, value func() any) {
	if rapid.Bool().Draw(t, key) {
		into[key] = value()
	}
}

// listOf draws a list of items with names, in any order.
func listOf(t *rapid.T, label string, item func(t *rapid.T, name string) map[string]any) any {
	out := []any{}
	for _, name := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b", "c"}), 1, 3, rapid.ID).Draw(t, label) {
		out = append(out, item(t, name))
	}
	return out
}

func container(t *rapid.T, name string) map[string]any {
	c := map[string]any{"name": name}
	maybe(t, c, "image", func() any { return text().Draw(t, "image") })
	maybe(t, c, "args", func() any { return rapid.SliceOfN(text().AsAny(), 0, 2).Draw(t, "args") })
	maybe(t, c, "env", func() any { return listOf(t, "env", variable) })
	maybe(t, c, "resources", func() any {
		return map[string]any{"limits": map[string]any{
			"cpu": rapid.SampledFrom([]any{"0.5", "500m", "1", int64(1), int64(0)}).Draw(t, "cpu"),
		}}
	})
	maybe(t, c, "ports", func() any {
		return []any{map[string]any{"containerPort": rapid.Int64Range(80, 81).Draw(t, "port")}}
	})
	return c
}

func variable(t *rapid.T, name string) map[string]any {
	v := map[string]any{"name": name}
	maybe(t, v, "value", func() any { return text().Draw(t, "value") })
	return v
}

func port(t *rapid.T, name string) map[string]any {
	p := map[string]any{"name": name, "port": int64(name[0])}
	maybe(t, p, "protocol", func() any { return rapid.SampledFrom([]string{"TCP", "UDP"}).Draw(t, "protocol") })
	maybe(t, p, "targetPort", func() any { return rapid.SampledFrom([]any{int64(0), int64(80), "80"}).Draw(t, "target") })
	return p
}

func text() *rapid.Generator[string] { return rapid.SampledFrom([]string{"", "x", "1", "1000m"}) }

func textMap() *rapid.Generator[map[string]any] {
	return rapid.MapOfN(rapid.SampledFrom([]string{"a", "b"}), text().AsAny(), 0, 2)
}

// anything draws a value of JSON.
func anything(depth int) *rapid.Generator[any] {
	leaf := rapid.SampledFrom([]any{nil, "", "x", int64(0), int64(1), 1.5, true, false})
	if depth == 0 {
		return leaf
	}
	below := rapid.Deferred(func() *rapid.Generator[any] { return anything(depth - 1) })
	return rapid.OneOf(leaf,
		rapid.SliceOfN(below, 0, 2).AsAny(),
		rapid.MapOfN(rapid.SampledFrom([]string{"a", "b"}), below, 0, 2).AsAny())
}

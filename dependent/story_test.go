// SPDX-License-Identifier: Apache-2.0

package dependent_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/espalier-dev/espalier/dependent"
	v1 "github.com/espalier-dev/espalier/examples/webapp/api/v1"
	"github.com/espalier-dev/espalier/workflow"
)

// story is the life of one object: what is wanted of it over time, and what others do to it.
type story struct {
	// First, Changed and Fewer are intents. Fewer lacks something that Changed has.
	First, Changed, Fewer map[string]any
	// Drift and Extra are merge patches of others: of something that Fewer sets, and of something that nothing sets.
	Drift, Extra map[string]any
	// Beats are two merge patches of the status that take turns.
	Beats []map[string]any
	// Restart is how many applies that change nothing are sent after a restart, for the object written with its Go type
	// and as a configuration, with or without one.
	Restart struct{ Typed, Configuration int }
	// Ignore are paths that differ between objects of the same intent, or that nobody can take back.
	Ignore []string
}

// configuration is an apply configuration of any kind.
type configuration struct{ fields map[string]any }

func (c configuration) IsApplyConfiguration() {}

func (c configuration) MarshalJSON() ([]byte, error) { return json.Marshal(c.fields) }

func (c *configuration) GetName() *string { return c.text("metadata", "name") }

func (c *configuration) GetNamespace() *string { return c.text("metadata", "namespace") }

func (c *configuration) GetKind() *string { return c.text("kind") }

func (c *configuration) GetAPIVersion() *string { return c.text("apiVersion") }

func (c *configuration) text(path ...string) *string {
	if text, ok, err := unstructured.NestedString(c.fields, path...); ok && err == nil {
		return &text
	}
	return nil
}

// teller tells a story about objects of type T, written in one form.
type teller[T any, PT dependent.ObjectOf[T]] struct {
	*story
	form   string // "typed", "configuration" or "unstructured"
	world  *world
	runner *workflow.Runner[*v1.WebApp]
	intent map[string]any
}

// tell tells the story in a file, once per form in which an intent may be written.
func tell[T any, PT dependent.ObjectOf[T]](t *testing.T, name string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "stories", name+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, form := range []string{"typed", "configuration", "unstructured"} {
		t.Run(form, func(t *testing.T) {
			s := &story{}
			if err := yaml.UnmarshalStrict(text, s); err != nil {
				t.Fatal(err)
			}
			tt := &teller[T, PT]{story: s, form: form, world: newWorld(t)}
			tt.tell(t)
		})
	}
}

func (s *teller[T, PT]) tell(t *testing.T) {
	t.Helper()
	s.start(t)
	s.want(s.First)
	s.step(t, "created", workflow.Create)
	s.want(s.Changed)
	s.step(t, "changed", workflow.Update)
	s.want(s.Fewer)
	s.step(t, "a field removed", workflow.Update)
	s.isFresh(t, "a field removed")
	s.happens(t, s.Drift)
	s.step(t, "drift", workflow.Update) // E27
	s.isFresh(t, "drift")
	s.happens(t, s.Extra)
	s.rests(t, "something that isn't owned") // E10 E23
	s.beats(t)

	before := s.live(t)
	s.world = s.world.restarted(t)
	s.start(t)
	s.restarts(t)
	if after := s.live(t); after.GetResourceVersion() != before.GetResourceVersion() { // E17
		t.Errorf("a restart: the object was changed:\n%s", cmp.Diff(before, after))
	}
	s.has(t, s.Extra)
	s.beats(t)
	s.happens(t, map[string]any{"metadata": map[string]any{"annotations": map[string]any{"example.com/other": "x"}}})
	s.rests(t, "something that isn't owned, after a restart")
	s.happens(t, s.Drift)
	s.step(t, "drift after a restart", workflow.Update)

	s.world = s.world.restarted(t)
	s.start(t)
	s.want(s.Changed)
	s.step(t, "changed while the operator was down", workflow.Update) // E26
}

// start binds the graph in the present world.
func (s *teller[T, PT]) start(t *testing.T) {
	t.Helper()
	s.runner = s.world.runner(t, func(b builder) {
		switch s.form {
		case "typed":
			dependent.Typed[T, PT](b, "node", func(run) (*T, error) { return decode[T](s.intent) })
		case "configuration":
			dependent.Apply[T, PT](b, "node", func(run) (*configuration, error) {
				return &configuration{runtime.DeepCopyJSON(s.intent)}, nil
			})
		default:
			dependent.Unstructured(b, s.kind(t), "node", func(run) (*unstructured.Unstructured, error) {
				return &unstructured.Unstructured{Object: runtime.DeepCopyJSON(s.intent)}, nil
			})
		}
	})
}

func (s *teller[T, PT]) want(intent map[string]any) { s.intent = named(intent, s.name()) }

// name is told from those of other stories, for the sake of cluster-scoped objects.
func (s *teller[T, PT]) name() string { return s.world.namespace + "-node" }

func named(intent map[string]any, name string) map[string]any {
	out := integers(runtime.DeepCopyJSON(intent)).(map[string]any)
	meta, _ := out["metadata"].(map[string]any)
	if meta == nil {
		meta = map[string]any{}
		out["metadata"] = meta
	}
	meta["name"] = name
	return out
}

// step runs the graph and wants exactly one write; then everything is at rest.
func (s *teller[T, PT]) step(t *testing.T, what string, operation workflow.Operation) {
	t.Helper()
	var result *workflow.Result
	sent := s.world.sends(func() { result = s.runner.Reconcile(t.Context(), of(s.world.primary)) })
	row := result.Node("node")
	if row.Err != nil {
		t.Fatalf("%s: %v", what, row.Err)
	}
	if row.Operation != operation {
		t.Errorf("%s: the operation is %q, want %q", what, row.Operation, operation)
	}
	if applies(sent) != 1 || len(sent) != 1 {
		t.Errorf("%s: sent %v, want one apply", what, sent)
	}
	s.rests(t, what+", before the cache has caught up")
	s.sees(t, s.live(t))
	s.rests(t, what+", seen in the cache")
}

func applies(sent map[string]int) int {
	n := 0
	for operation, count := range sent {
		if strings.HasPrefix(operation, "apply ") {
			n += count
		}
	}
	return n
}

// rests wants no request.
func (s *teller[T, PT]) rests(t *testing.T, what string) {
	t.Helper()
	for range 2 {
		var result *workflow.Result
		sent := s.world.sends(func() { result = s.runner.Reconcile(t.Context(), of(s.world.primary)) })
		if err := result.Err(); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if len(sent) > 0 {
			t.Errorf("%s: sent %v, want nothing", what, sent)
		}
	}
}

// restarts wants as many applies as the story says, each without effect.
func (s *teller[T, PT]) restarts(t *testing.T) {
	t.Helper()
	want := s.Restart.Configuration
	if s.form == "typed" {
		want = s.Restart.Typed
	}
	var result *workflow.Result
	sent := s.world.sends(func() { result = s.runner.Reconcile(t.Context(), of(s.world.primary)) })
	if row := result.Node("node"); row.Err != nil || row.Operation != workflow.None {
		t.Errorf("a restart: operation %q, error %v; want none", row.Operation, row.Err)
	}
	if applies(sent) != want || len(sent) > 1 {
		t.Errorf("a restart: sent %v, want %d applies", sent, want)
	}
	s.rests(t, "a restart")
}

// happens patches the object as somebody else.
func (s *teller[T, PT]) happens(t *testing.T, patch map[string]any) {
	t.Helper()
	obj := s.live(t)
	if err := s.world.others.Patch(t.Context(), obj, client.RawPatch(types.MergePatchType, []byte(encoded(t, patch)))); err != nil {
		t.Fatal(err)
	}
	s.sees(t, obj)
}

// sees waits until the cache that the node reads shows this version.
func (s *teller[T, PT]) sees(t *testing.T, obj PT) {
	t.Helper()
	if s.form != "unstructured" {
		s.world.sees(t, obj)
		return
	}
	untyped := &unstructured.Unstructured{}
	untyped.SetGroupVersionKind(s.kind(t))
	untyped.SetName(obj.GetName())
	untyped.SetNamespace(obj.GetNamespace())
	untyped.SetResourceVersion(obj.GetResourceVersion())
	s.world.sees(t, untyped)
}

func (s *teller[T, PT]) kind(t *testing.T) schema.GroupVersionKind {
	t.Helper()
	gvk, err := s.world.others.GroupVersionKindFor(PT(new(T)))
	if err != nil {
		t.Fatal(err)
	}
	return gvk
}

// beats changes the status, if the kind has one.
func (s *teller[T, PT]) beats(t *testing.T) {
	t.Helper()
	for _, beat := range s.Beats {
		obj := s.live(t)
		before := obj.GetResourceVersion()
		patch := client.RawPatch(types.MergePatchType, []byte(encoded(t, beat)))
		if err := s.world.others.Status().Patch(t.Context(), obj, patch); err != nil {
			t.Fatal(err)
		}
		if obj.GetResourceVersion() == before {
			t.Fatalf("%v changes nothing", beat)
		}
		s.sees(t, obj)
		s.rests(t, "a heartbeat") // E13
	}
}

func (s *teller[T, PT]) live(t *testing.T) PT {
	t.Helper()
	obj := PT(new(T))
	obj.SetName(s.name())
	if namespaced, err := s.world.others.IsObjectNamespaced(obj); err != nil {
		t.Fatal(err)
	} else if namespaced {
		obj.SetNamespace(s.world.namespace)
	}
	if err := s.world.others.Get(t.Context(), client.ObjectKeyFromObject(obj), obj); err != nil {
		t.Fatal(err)
	}
	return obj
}

// isFresh wants the object to be what the intent alone would have made: its history leaves no trace.
func (s *teller[T, PT]) isFresh(t *testing.T, what string) {
	t.Helper()
	live := s.live(t)
	fields := named(s.intent, s.name()+"-fresh")
	gvk, err := s.world.others.GroupVersionKindFor(live)
	if err != nil {
		t.Fatal(err)
	}
	fields["apiVersion"], fields["kind"] = gvk.GroupVersion().String(), gvk.Kind
	fresh := PT(new(T))
	fresh.SetName(s.name() + "-fresh")
	fresh.SetNamespace(live.GetNamespace())
	patch := client.RawPatch(types.ApplyPatchType, []byte(encoded(t, fields)))
	if err := s.world.others.Patch(t.Context(), fresh, patch, client.FieldOwner("fresh")); err != nil {
		t.Fatal(err)
	}
	want, got := s.essence(t, fresh), s.essence(t, live)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s: what is there isn't what the intent makes: want -, got +:\n%s", what, diff)
	}
	if err := s.world.others.Delete(t.Context(), fresh, client.GracePeriodSeconds(0)); err != nil {
		t.Fatal(err)
	}
}

// essence is what remains of an object without what tells it from another of the same intent.
func (s *teller[T, PT]) essence(t *testing.T, obj PT) map[string]any {
	t.Helper()
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	if err != nil {
		t.Fatal(err)
	}
	delete(fields, "status")
	annotations := maps.Clone(obj.GetAnnotations())
	delete(annotations, "espalier.dev/primary")
	fields["metadata"] = map[string]any{"annotations": fmt.Sprint(annotations)}
	for _, path := range s.Ignore {
		unstructured.RemoveNestedField(fields, strings.Split(path, ".")...)
	}
	return fields
}

// has wants the object to have what a merge patch has set.
func (s *teller[T, PT]) has(t *testing.T, patch map[string]any) {
	t.Helper()
	obj := s.live(t)
	before := obj.GetResourceVersion()
	if err := s.world.others.Patch(t.Context(), obj, client.RawPatch(types.MergePatchType, []byte(encoded(t, patch)))); err != nil {
		t.Fatal(err)
	}
	if obj.GetResourceVersion() != before {
		t.Errorf("%v, set by somebody else, was taken away", patch)
	}
}

func encoded(tb testing.TB, fields map[string]any) string {
	tb.Helper()
	text, err := json.Marshal(fields)
	if err != nil {
		tb.Fatal(err)
	}
	return string(text)
}

func decode[T any](fields map[string]any) (*T, error) {
	if fields == nil {
		return nil, errors.New("nothing is wanted")
	}
	text, err := json.Marshal(fields)
	if err != nil {
		return nil, err
	}
	out := new(T)
	return out, json.Unmarshal(text, out)
}

// integers makes whole numbers integers, which YAML has made floats.
func integers(v any) any {
	switch v := v.(type) {
	case float64:
		if whole := int64(v); float64(whole) == v {
			return whole
		}
	case map[string]any:
		out := maps.Clone(v)
		for key, value := range out {
			out[key] = integers(value)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, value := range v {
			out[i] = integers(value)
		}
		return out
	}
	return v
}

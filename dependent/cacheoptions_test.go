// SPDX-License-Identifier: Apache-2.0

package dependent_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/cluster"

	"github.com/espalier-dev/espalier/dependent"
	v1 "github.com/espalier-dev/espalier/examples/webapp/api/v1"
	"github.com/espalier-dev/espalier/workflow"
)

// A cache of the options of a graph holds what the graph has written, and of what it refers to everything.
func TestCacheOptions(t *testing.T) { // R49 P3 P5 P6
	declare := func(b builder) {
		theirs := dependent.Reference[corev1.Secret](b, "theirs", func(run) (client.ObjectKey, error) {
			return client.ObjectKey{Name: "object"}, nil
		})
		dependent.Typed(b, "secret", func(run) (*corev1.Secret, error) {
			s := secret(corev1.SecretTypeOpaque, "a", "b")
			s.Name = "ours"
			return s, nil
		}).DependsOn(theirs)
		dependent.Typed(b, "node", func(run) (*corev1.ConfigMap, error) { return configMap("", "settings"), nil })
	}
	b := workflow.NewBuilder[*v1.WebApp]("webapp")
	declare(b)
	graph, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	options := dependent.CacheOptions(dependent.EngineOptions{FieldManager: operator}, graph)
	if len(options.ByObject) != 1 {
		t.Errorf("%d kinds are narrowed, want ConfigMap alone", len(options.ByObject))
	}
	w := newWorld(t, func(o *cluster.Options) { o.Cache = options })
	theirs := secret(corev1.SecretTypeOpaque, "a", "b")
	theirs.Namespace = w.namespace
	w.create(t, theirs)
	other := configMap(w.namespace, "other")
	w.create(t, other)
	runner := w.runner(t, declare)
	w.sees(t, theirs)
	row, _ := w.reconcile(t, runner)
	wantRow(t, row, workflow.Ready, "")
	live := read[corev1.ConfigMap](t, w, "settings")
	w.sees(t, live)
	_, sent := w.reconcile(t, runner)
	wantSent(t, sent)
	if err := w.cluster.GetCache().Get(t.Context(), client.ObjectKeyFromObject(other), configMap("", "")); client.IgnoreNotFound(err) != nil || err == nil {
		t.Errorf("the cache holds what isn't ours: %v", err)
	}

	// Somebody takes our labels off: the object vanishes from the cache, and is taken back.
	patch := client.RawPatch("application/merge-patch+json", []byte(`{"metadata": {"labels": null}}`))
	if err := w.others.Patch(t.Context(), live, patch); err != nil {
		t.Fatal(err)
	}
	w.misses(t, live)
	row, sent = w.reconcile(t, runner)
	if sent["apply configmaps"] == 0 {
		t.Errorf("sent %v", sent)
	}
	for range 3 {
		row, _ = w.reconcile(t, runner)
	}
	wantRow(t, row, workflow.Ready, "")
	now := read[corev1.ConfigMap](t, w, "settings")
	if now.UID != live.UID || now.Labels[w.engine.OwnerLabel()] == "" {
		t.Errorf("the object has labels %v", now.Labels)
	}
	w.sees(t, now)
	_, sent = w.reconcile(t, runner)
	wantSent(t, sent)
}

// A cache that strips managed fields is refused, with the way out.
func TestStrippedManagedFields(t *testing.T) { // R49
	strip := func(o *cluster.Options) { o.Cache.DefaultTransform = cache.TransformStripManagedFields() }
	w, s := newWorld(t, strip), &settings{data: map[string]string{"a": "1"}}
	runner := w.runner(t, s.declare)
	w.reconcile(t, runner)
	w.sees(t, read[corev1.ConfigMap](t, w, "settings"))
	row, sent := w.reconcile(t, runner)
	wantRow(t, row, workflow.Failed, "ManagedFieldsStripped")
	wantSent(t, sent)
}

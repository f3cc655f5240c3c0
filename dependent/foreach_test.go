// SPDX-License-Identifier: Apache-2.0

package dependent_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	coreac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/espalier-dev/espalier/dependent"
	v1 "github.com/espalier-dev/espalier/examples/webapp/api/v1"
	"github.com/espalier-dev/espalier/workflow"
)

// One object per key, read by key; one that fails doesn't stop the others; vanished keys go once nobody needs them.
func TestForEach(t *testing.T) { // R6 R10 R13 R41
	w, keys, bad := newWorld(t), []string{"b", "a"}, "?"
	declare := func(b builder) {
		shards := dependent.ForEach[corev1.ConfigMap](b, "shard",
			func(run) ([]string, error) { return keys, nil },
			func(r run, key string) (*coreac.ConfigMapApplyConfiguration, error) {
				if key == bad {
					return nil, fmt.Errorf("key %q has no shard", key)
				}
				return coreac.ConfigMap(dependent.Name(r.Primary(), "shard", key), w.namespace).WithData(map[string]string{"of": key}), nil
			})
		dependent.Typed(b, "node", func(r run) (*corev1.ConfigMap, error) {
			var all []string
			for _, key := range slices.Sorted(maps.Keys(shards.Get(r))) {
				item, _ := shards.At(r, key)
				all = append(all, item.Data["of"])
			}
			index := &corev1.ConfigMap{Data: map[string]string{"all": strings.Join(all, " ")}}
			index.Name = "index"
			return index, nil
		}).DependsOn(workflow.Where(shards, func(all map[string]*corev1.ConfigMap) workflow.Verdict {
			return workflow.If(len(all) > 0, "Empty", "there are no shards")
		}))
	}
	runner := w.runner(t, declare)
	row, sent := w.reconcile(t, runner)
	wantRow(t, row, workflow.Ready, "")
	wantSent(t, sent, "apply configmaps", "apply configmaps", "apply configmaps")
	if got := read[corev1.ConfigMap](t, w, "index").Data["all"]; got != "a b" {
		t.Errorf("the index is %q", got)
	}
	_, sent = w.reconcile(t, runner)
	wantSent(t, sent)

	keys, bad = []string{"b", "c", "d"}, "c"
	result := runner.Reconcile(t.Context(), of(w.primary))
	for key, want := range map[string]workflow.State{"a": workflow.Deleting, "b": workflow.Ready, "c": workflow.Failed, "d": workflow.Ready} {
		if got := result.Node("shard-item", key).State; got != want {
			t.Errorf("%s: %s, want %s", key, got, want)
		}
	}
	if row := result.Node("node"); row.State != workflow.Blocked || row.BlockedBy[0] != "shard-item[c]" {
		t.Errorf("the index: %+v", row)
	}
	bad = "?"
	subject := of(w.primary)
	subject.Revision++
	result = runner.Reconcile(t.Context(), subject)
	if got := read[corev1.ConfigMap](t, w, "index").Data["all"]; got != "b c d" || result.Node("node").State != workflow.Ready {
		t.Errorf("the index is %q: %v", got, result.Err())
	}
}

// Refinements of a set chain in any order and keep its type.
func TestForEachRefined(t *testing.T) {
	b := workflow.NewBuilder[*v1.WebApp]("refined")
	config := dependent.Typed(b, "config", func(run) (*corev1.ConfigMap, error) { return &corev1.ConfigMap{}, nil })
	yes := func(run) workflow.Verdict { return workflow.Met() }
	set := dependent.ForEach[corev1.ConfigMap](b, "set", func(run) ([]string, error) { return nil, nil },
		func(r run, key string) (*coreac.ConfigMapApplyConfiguration, error) {
			return coreac.ConfigMap(key, r.Primary().Namespace), nil
		}).DependsOn(config).MaxUnavailable(1).AnyNamespace().AtLeast(2).DeletesData().ActivateWhen("a", yes).
		ReconcileWhen("b", yes).HoldUntil("c", yes).DeleteWhen("d", yes).DeletedWhen("e", yes).InOrder().Any().All().
		ReadyWhen("f", func(run, *corev1.ConfigMap) workflow.Verdict { return workflow.Met() })
	if _, err := b.Build(); err != nil || set.Name() != "set" || set.Nodes.Name() != "set-item" {
		t.Errorf("%s %s: %v", set.Name(), set.Nodes.Name(), err)
	}
}

// SPDX-License-Identifier: Apache-2.0

package dependent_test

import (
	"context"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/espalier-dev/espalier/dependent"
	v1 "github.com/espalier-dev/espalier/examples/webapp/api/v1"
	"github.com/espalier-dev/espalier/workflow"
)

// A chain of twenty objects takes twenty writes in one run, a change as many as it reaches, and nothing else costs any.
func TestRequestsOfAChain(t *testing.T) { // R8 R31 F5 F12 F13
	const length = 20
	w, changed := newWorld(t), map[int]string{}
	declare := func(b builder) {
		var before *dependent.Object[*v1.WebApp, *corev1.ConfigMap]
		for i := range length {
			node := dependent.Typed(b, fmt.Sprintf("n%02d", i), func(r run) (*corev1.ConfigMap, error) {
				c := configMap("", dependent.Name(r.Primary(), fmt.Sprint(i)))
				c.Data = map[string]string{"value": changed[i]}
				return c, nil
			})
			if before != nil {
				node.DependsOn(before)
			}
			before = node
		}
	}
	bind := func() *workflow.Runner[*v1.WebApp] {
		return w.runner(t, declare, workflow.Options{OrderedDeletion: true})
	}
	sends := func(run func() *workflow.Result) map[string]int {
		t.Helper()
		return w.sends(func() {
			if result := run(); result.Err() != nil {
				t.Fatal(result.Err())
			}
		})
	}
	graph := bind()
	reconcile := func() *workflow.Result { return graph.Reconcile(t.Context(), of(w.primary)) }
	wantCount := func(what string, sent map[string]int, operation string, want int) {
		t.Helper()
		if want == 0 && len(sent) > 0 || want > 0 && (sent[operation] != want || len(sent) > 1) {
			t.Errorf("%s: sent %v, want %d × %q", what, sent, want, operation)
		}
	}
	wantCount("created", sends(reconcile), "apply configmaps", length)
	wantCount("at rest", sends(reconcile), "", 0)
	w.waits(t, func(context.Context) bool { return len(sends(reconcile)) == 0 && w.hasCaughtUp(t) }, "the cache doesn't catch up")
	for _, i := range []int{0, 7, 19} {
		changed[i] = "new"
	}
	wantCount("three changed", sends(reconcile), "apply configmaps", 3)
	w.waits(t, func(context.Context) bool { return len(sends(reconcile)) == 0 && w.hasCaughtUp(t) }, "the cache doesn't catch up")
	w = w.restarted(t)
	graph = bind()
	wantCount("restarted", sends(reconcile), "", 0)
	total := 0
	w.waits(t, func(context.Context) bool {
		var result *workflow.Result
		sent := w.sends(func() { result = graph.Cleanup(t.Context(), of(w.primary)) })
		total += sent["delete configmaps"]
		return result.Complete()
	}, "the cleanup doesn't end")
	if total != length {
		t.Errorf("deleted with %d requests, want %d", total, length)
	}
}

// SPDX-License-Identifier: Apache-2.0

package dependent_test

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/espalier-dev/espalier/dependent"
	"github.com/espalier-dev/espalier/workflow"
)

// Two who correct each other don't do so for ever.
func TestContested(t *testing.T) { // R42 E8 E11
	w, s := newWorld(t), &settings{data: map[string]string{"a": "1"}}
	runner := w.runner(t, s.declare)
	w.reconcile(t, runner)
	for i := range 4 {
		w.patch(t, read[corev1.ConfigMap](t, w, "settings"), fmt.Sprintf(`{"data": {"a": "theirs %d"}}`, i))
		row, _ := w.reconcile(t, runner)
		wantRow(t, row, workflow.Ready, "")
	}
	w.patch(t, read[corev1.ConfigMap](t, w, "settings"), `{"data": {"a": "theirs"}}`)
	row, sent := w.reconcile(t, runner)
	wantRow(t, row, workflow.Failed, "Contested")
	wantSent(t, sent)
	if !strings.Contains(row.Message, "data.a") || !strings.Contains(row.Message, stranger) || row.RetryAfter == 0 {
		t.Errorf("the message is %q, it is tried again after %v", row.Message, row.RetryAfter)
	}
	s.data["a"] = "2"
	w.primary.Generation++ // the user wants something else
	row, sent = w.reconcile(t, runner)
	wantRow(t, row, workflow.Ready, "")
	wantSent(t, sent, "apply configmaps")
}

// A desired state that isn't the same twice doesn't write for ever.
func TestUnstable(t *testing.T) { // R42
	w, n := newWorld(t), 0
	runner := w.runner(t, func(b builder) {
		dependent.Typed(b, "node", func(run) (*corev1.ConfigMap, error) {
			n++
			c := configMap("", "settings")
			c.Data = map[string]string{"n": fmt.Sprint(n)}
			return c, nil
		})
	})
	writes := 0
	for range 20 {
		_, sent := w.reconcile(t, runner)
		writes += applies(sent)
	}
	row, _ := w.reconcile(t, runner)
	wantRow(t, row, workflow.Failed, "Unstable")
	if writes != 5 {
		t.Errorf("written %d times", writes)
	}
}

// SPDX-License-Identifier: Apache-2.0

package dependent_test

import (
	"errors"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/espalier-dev/espalier/dependent"
	v1 "github.com/espalier-dev/espalier/examples/webapp/api/v1"
	"github.com/espalier-dev/espalier/workflow"
)

// The write path without a graph: one write per change, none at rest, a restart changes nothing.
func TestApplyAlone(t *testing.T) { // R30 R31 R33 R36
	w := newWorld(t)
	wanted := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "settings"}, Data: map[string]string{"level": "info"}}
	apply := func(what string) {
		t.Helper()
		if _, err := w.engine.Apply(t.Context(), w.primary, "settings", wanted); err != nil {
			t.Fatal(err) // the informer's own requests come first
		}
		var applied dependent.Applied
		var err error
		wantSent(t, w.sends(func() { applied, err = w.engine.Apply(t.Context(), w.primary, "settings", wanted) }))
		if err != nil || applied.Operation != workflow.None || applied.Object.GetName() != "settings" {
			t.Errorf("%s: %+v, %v", what, applied, err)
		}
	}
	apply("at rest")
	if live := read[corev1.ConfigMap](t, w, "settings"); len(live.OwnerReferences) != 1 || live.Data["level"] != "info" {
		t.Errorf("got %+v", live)
	}
	w = w.restarted(t)
	apply("after a restart")

	set := deployment("web")
	applied, err := w.engine.Apply(t.Context(), w.primary, "web", set)
	if err != nil || applied.Operation != workflow.Create || applied.Ready.Holds() {
		t.Errorf("a Deployment nobody has made available: %+v, %v", applied, err)
	}
	if _, ok := applied.Object.(*appsv1.Deployment); !ok || set.ResourceVersion != "" {
		t.Errorf("got a %T", applied.Object)
	}
	set.Spec.Replicas = new(int32(3))
	sent := w.sends(func() { applied, err = w.engine.Apply(t.Context(), w.primary, "web", set) })
	wantSent(t, sent, "apply deployments.apps")
	if err != nil || applied.Operation != workflow.Update {
		t.Errorf("changed: %+v, %v", applied, err)
	}

	stranger := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "theirs", Namespace: w.namespace}}
	w.create(t, stranger)
	_, err = w.engine.Apply(t.Context(), w.primary, "theirs", &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "theirs"}})
	if failed, ok := errors.AsType[*workflow.NodeError](err); ok || err == nil || !strings.Contains(err.Error(), `applying "theirs" of "shop"`) {
		t.Errorf("somebody else's: %v, %v", failed, err)
	}
	if _, err = w.engine.Apply(t.Context(), &v1.WebApp{}, "x", wanted); err == nil || !strings.Contains(err.Error(), "has no UID") {
		t.Errorf("an owner that isn't there: %v", err)
	}
	if _, err = w.engine.Apply(t.Context(), w.primary, "Not a name", wanted); err == nil {
		t.Error("a name that can't be a label was taken")
	}
}

// A graph in a reconciler that is written by hand: it sees no status, and is cleaned up when the primary goes.
func TestRunAlone(t *testing.T) { // R64
	w := newWorld(t)
	w.primary.Status.ObservedGeneration = 7
	runner := w.runner(t, func(b builder) {
		dependent.Typed(b, "node", func(r run) (*corev1.ConfigMap, error) {
			if r.Primary().Status.ObservedGeneration != 0 || r.Primary().ManagedFields != nil {
				return nil, errors.New("it sees the status")
			}
			return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "settings"}}, nil
		})
	}, workflow.Options{OrderedDeletion: true})
	result, err := dependent.Run(t.Context(), runner, w.primary)
	if err != nil || !result.Ready() || w.primary.Status.ObservedGeneration != 7 {
		t.Errorf("got %v, %v", result.Err(), err)
	}
	now := metav1.Now()
	going := w.primary.DeepCopy()
	going.DeletionTimestamp = &now
	if result, err = dependent.Run(t.Context(), runner, going); err != nil || !result.Cleanup {
		t.Errorf("going: %v", err)
	}
}

// SPDX-License-Identifier: Apache-2.0

package dependent_test

import (
	"maps"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/cluster"

	"github.com/espalier-dev/espalier/dependent"
	"github.com/espalier-dev/espalier/workflow"
)

// settings is the ConfigMap of most tests; it holds data, which a test may change between runs.
type settings struct{ data map[string]string }

func (s *settings) object() *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "settings"}, Data: maps.Clone(s.data)}
}

func (s *settings) declare(b builder) {
	dependent.Typed(b, "node", func(run) (*corev1.ConfigMap, error) { return s.object(), nil })
}

func wantRow(t *testing.T, row workflow.NodeResult, state workflow.State, reason string) {
	t.Helper()
	if row.State != state || row.Reason != reason {
		t.Errorf("the node is %s, reason %q, message %q, error %v; want %s, %q", row.State, row.Reason, row.Message, row.Err, state, reason)
	}
}

func wantSent(t *testing.T, sent map[string]int, want ...string) {
	t.Helper()
	counts := map[string]int{}
	for _, operation := range want {
		counts[operation]++
	}
	if !maps.Equal(sent, counts) {
		t.Errorf("sent %v, want %v", sent, counts)
	}
}

func TestReadYourWrites(t *testing.T) { // R32 F1 F9 F16
	w, s := newWorld(t), &settings{data: map[string]string{"a": "1"}}
	runner := w.runner(t, s.declare)
	w.gate.shut()
	row, sent := w.reconcile(t, runner)
	wantRow(t, row, workflow.Ready, "")
	wantSent(t, sent, "apply configmaps")
	for range 3 {
		_, sent = w.reconcile(t, runner)
		wantSent(t, sent)
	}
	s.data["a"] = "2"
	row, sent = w.reconcile(t, runner)
	wantRow(t, row, workflow.Ready, "")
	wantSent(t, sent, "apply configmaps")
	_, sent = w.reconcile(t, runner)
	wantSent(t, sent)
	w.gate.reopen()
	live := read[corev1.ConfigMap](t, w, "settings")
	if live.Data["a"] != "2" {
		t.Errorf("what is there has %v", live.Data)
	}
	w.sees(t, live)
	_, sent = w.reconcile(t, runner)
	wantSent(t, sent)
}

func TestReadYourWritesClientMakesNoDifference(t *testing.T) { // R32 F2 F10
	consistent := func(o *cluster.Options) {
		o.Client.Cache = &client.CacheOptions{EnableReadYourWritesConsistency: new(true)}
		o.Cache.ByObject = map[client.Object]cache.ByObject{
			&corev1.ConfigMap{}: {Label: labels.SelectorFromSet(labels.Set{"espalier.dev/workflow": "webapp"})},
		}
	}
	w, s := newWorld(t, consistent), &settings{data: map[string]string{"a": "1"}}
	runner := w.runner(t, s.declare)
	w.gate.shut()
	_, sent := w.reconcile(t, runner)
	wantSent(t, sent, "apply configmaps")
	_, sent = w.reconcile(t, runner)
	wantSent(t, sent)
	w.gate.reopen()
}

func TestDeletedMeanwhile(t *testing.T) { // R33 F17
	w, s := newWorld(t), &settings{data: map[string]string{"a": "1"}}
	runner := w.runner(t, s.declare)
	w.reconcile(t, runner)
	live := read[corev1.ConfigMap](t, w, "settings")
	w.sees(t, live)
	w.gate.shut()
	if err := w.others.Delete(t.Context(), live); err != nil {
		t.Fatal(err)
	}
	s.data["a"] = "2"
	row, sent := w.reconcile(t, runner)
	wantRow(t, row, workflow.Waiting, "Replaced")
	wantSent(t, sent, "apply configmaps")
	if row.Recheck <= 0 || row.Recheck > time.Second {
		t.Errorf("it is tried again after %v", row.Recheck)
	}
	if err := w.others.Get(t.Context(), client.ObjectKeyFromObject(live), live.DeepCopy()); !apierrors.IsNotFound(err) {
		t.Errorf("what was deleted is there again: %v", err)
	}
	w.gate.reopen()
	w.misses(t, live)
	row, sent = w.reconcile(t, runner)
	wantRow(t, row, workflow.Ready, "")
	wantSent(t, sent, "apply configmaps")
	if again := read[corev1.ConfigMap](t, w, "settings"); again.UID == live.UID || again.Data["a"] != "2" {
		t.Errorf("there is %v, UID %s", again.Data, again.UID)
	}
}

// What was written and deleted before the cache has shown it is known to be gone, and made again.
func TestDeletedBeforeItWasSeen(t *testing.T) { // R32 R33
	w, s := newWorld(t), &settings{data: map[string]string{"a": "1"}}
	runner := w.runner(t, s.declare)
	w.gate.shut()
	w.reconcile(t, runner)
	first := read[corev1.ConfigMap](t, w, "settings")
	if err := w.others.Delete(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	s.data["a"] = "2"
	row, sent := w.reconcile(t, runner)
	wantRow(t, row, workflow.Waiting, "Replaced")
	wantSent(t, sent, "apply configmaps")
	row, sent = w.reconcile(t, runner)
	wantRow(t, row, workflow.Ready, "")
	wantSent(t, sent, "apply configmaps")
	w.gate.reopen()
	second := read[corev1.ConfigMap](t, w, "settings")
	w.sees(t, second)
	_, sent = w.reconcile(t, runner)
	wantSent(t, sent)
	if second.UID == first.UID || second.Data["a"] != "2" {
		t.Errorf("there is %v, UID %s", second.Data, second.UID)
	}
}

func TestReplacedMeanwhile(t *testing.T) { // R33
	w, s := newWorld(t), &settings{data: map[string]string{"a": "1"}}
	runner := w.runner(t, s.declare)
	w.reconcile(t, runner)
	live := read[corev1.ConfigMap](t, w, "settings")
	w.sees(t, live)
	w.gate.shut()
	if err := w.others.Delete(t.Context(), live); err != nil {
		t.Fatal(err)
	}
	theirs := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "settings", Namespace: w.namespace}}
	w.create(t, theirs)
	s.data["a"] = "2"
	row, sent := w.reconcile(t, runner)
	wantRow(t, row, workflow.Waiting, "Replaced")
	wantSent(t, sent, "apply configmaps")
	w.gate.reopen()
	w.sees(t, theirs)
	row, sent = w.reconcile(t, runner)
	wantRow(t, row, workflow.Failed, "NotOwned")
	wantSent(t, sent)
	if now := read[corev1.ConfigMap](t, w, "settings"); now.ResourceVersion != theirs.ResourceVersion {
		t.Errorf("somebody else's object was written: %v", now)
	}
}

func TestTerminating(t *testing.T) { // R37 X20
	w, s := newWorld(t), &settings{data: map[string]string{"a": "1"}}
	runner := w.runner(t, s.declare)
	w.reconcile(t, runner)
	live := read[corev1.ConfigMap](t, w, "settings")
	w.patch(t, live, `{"metadata":{"finalizers":["example.com/hold"]}}`)
	if err := w.others.Delete(t.Context(), live); err != nil {
		t.Fatal(err)
	}
	w.sees(t, read[corev1.ConfigMap](t, w, "settings"))
	s.data["a"] = "2"
	row, sent := w.reconcile(t, runner)
	wantRow(t, row, workflow.Waiting, "Terminating")
	wantSent(t, sent)
	if want := `ConfigMap "settings" is being deleted, held by ["example.com/hold"]`; row.Message != want {
		t.Errorf("the message is %q, want %q", row.Message, want)
	}
	if err := w.others.Patch(t.Context(), live, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))); err != nil {
		t.Fatal(err)
	}
	w.misses(t, live)
	row, sent = w.reconcile(t, runner)
	wantRow(t, row, workflow.Ready, "")
	wantSent(t, sent, "apply configmaps")
	if again := read[corev1.ConfigMap](t, w, "settings"); again.UID == live.UID {
		t.Error("the old object is still there")
	}
}

// An object that is ours, but that the cache doesn't show yet, is neither written nor taken for somebody else's.
func TestUnseen(t *testing.T) { // R33 R34 H9
	first := newWorld(t)
	s := &settings{data: map[string]string{"a": "1"}}
	second := first.restarted(t)
	runner := second.runner(t, s.declare)
	second.gate.shut()
	first.reconcile(t, first.runner(t, s.declare))
	live := read[corev1.ConfigMap](t, first, "settings")
	s.data["a"] = "2"
	row, sent := second.reconcile(t, runner)
	wantRow(t, row, workflow.Waiting, "Unseen")
	wantSent(t, sent, "apply configmaps", "get configmaps")
	if now := read[corev1.ConfigMap](t, first, "settings"); now.ResourceVersion != live.ResourceVersion {
		t.Errorf("it was written unseen: %v", now.Data)
	}
	second.gate.reopen()
	second.sees(t, live)
	row, sent = second.reconcile(t, runner)
	wantRow(t, row, workflow.Ready, "")
	wantSent(t, sent, "apply configmaps")
}

// An object that the cache shows between the write and the look at it isn't taken for a hidden one.
func TestSeenMeanwhile(t *testing.T) { // R32 R34
	first := newWorld(t)
	s := &settings{data: map[string]string{"a": "1"}}
	second := first.restarted(t)
	runner := second.runner(t, s.declare)
	second.gate.shut()
	first.reconcile(t, first.runner(t, s.declare))
	live := read[corev1.ConfigMap](t, first, "settings")
	second.gate.beforeGet.Store(new(func() {
		second.gate.reopen()
		second.sees(t, live)
	}))
	row, sent := second.reconcile(t, runner)
	wantRow(t, row, workflow.Waiting, "Unseen")
	wantSent(t, sent, "apply configmaps", "get configmaps")
	row, sent = second.reconcile(t, runner)
	wantRow(t, row, workflow.Ready, "")
	wantSent(t, sent)
}

// Somebody who writes under our own field manager changes a value and leaves our entry as it is: it is found all the
// same, in kinds that count generations and in those that don't.
func TestWrittenUnderOurName(t *testing.T) { // R31
	w := newWorld(t)
	runner := w.runner(t, func(b builder) {
		dependent.Typed(b, "node", func(run) (*corev1.ConfigMap, error) {
			return (&settings{data: map[string]string{"a": "1"}}).object(), nil
		})
		dependent.Typed(b, "web", func(run) (*appsv1.Deployment, error) { return deployment("settings"), nil })
	})
	w.reconcile(t, runner)
	for _, obj := range []client.Object{read[corev1.ConfigMap](t, w, "settings"), read[appsv1.Deployment](t, w, "settings")} {
		fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
		if err != nil {
			t.Fatal(err)
		}
		meta := map[string]any{"name": "settings", "labels": obj.GetLabels(), "ownerReferences": obj.GetOwnerReferences()}
		intent := map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": map[string]any{"a": "2"}}
		if _, ok := obj.(*appsv1.Deployment); ok {
			intent["apiVersion"], intent["kind"], intent["spec"] = "apps/v1", "Deployment", fields["spec"]
			delete(intent, "data")
			fields["spec"].(map[string]any)["replicas"] = 5
		}
		patch := client.RawPatch(types.ApplyPatchType, []byte(encoded(t, intent)))
		if err := w.others.Patch(t.Context(), obj, patch, client.FieldOwner(operator), client.ForceOwnership); err != nil {
			t.Fatal(err)
		}
		w.sees(t, obj)
	}
	_, sent := w.reconcile(t, runner)
	wantSent(t, sent, "apply configmaps", "apply deployments.apps")
	if a := read[corev1.ConfigMap](t, w, "settings").Data["a"]; a != "1" {
		t.Errorf("the value is %q", a)
	}
	if n := *read[appsv1.Deployment](t, w, "settings").Spec.Replicas; n != 2 {
		t.Errorf("there are %d replicas", n)
	}
	_, sent = w.reconcile(t, runner)
	wantSent(t, sent)
}

// A write whose answer got lost was done all the same: it is neither done again nor taken for somebody else's.
func TestAnswerLost(t *testing.T) { // R21 R32 R33
	w, s := newWorld(t), &settings{data: map[string]string{"a": "1"}}
	runner := w.runner(t, s.declare)
	for _, value := range []string{"1", "2"} { // a creation, then an update
		s.data["a"] = value
		w.gate.shut()
		w.gate.loses.Store(true)
		row, sent := w.reconcile(t, runner)
		wantRow(t, row, workflow.Failed, "Error")
		wantSent(t, sent, "apply configmaps")
		if row.RetryAfter <= 0 {
			t.Error("it isn't tried again")
		}
		row, sent = w.reconcile(t, runner) // nothing new is known, and the delay hasn't passed
		wantRow(t, row, workflow.Failed, "Error")
		wantSent(t, sent)
		w.gate.reopen()
		w.sees(t, read[corev1.ConfigMap](t, w, "settings"))
		row, sent = w.reconcile(t, runner)
		wantRow(t, row, workflow.Ready, "")
		wantSent(t, sent)
	}
	if w.gate.losses.Load() != 2 || read[corev1.ConfigMap](t, w, "settings").Data["a"] != "2" {
		t.Error("the writes weren't done")
	}
}

// Managed fields that got lost look like owning nothing: one apply takes them back.
func TestLostManagedFields(t *testing.T) { // R31 E4
	w, s := newWorld(t), &settings{data: map[string]string{"a": "1"}}
	runner := w.runner(t, s.declare)
	w.reconcile(t, runner)
	for range 2 {
		w.patch(t, read[corev1.ConfigMap](t, w, "settings"), `{"metadata":{"managedFields":[{}]}}`)
		row, sent := w.reconcile(t, runner)
		wantRow(t, row, workflow.Ready, "")
		wantSent(t, sent, "apply configmaps")
		_, sent = w.reconcile(t, runner)
		wantSent(t, sent)
	}
}

// An operator that now writes another version of a kind writes once: only the server can join the two entries.
func TestAnotherVersionOfTheKind(t *testing.T) { // R31 K4
	before := newWorld(t)
	target := autoscalingv1.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "web"}
	row, _ := before.reconcile(t, before.runner(t, func(b builder) {
		dependent.Typed(b, "node", func(run) (*autoscalingv1.HorizontalPodAutoscaler, error) {
			return &autoscalingv1.HorizontalPodAutoscaler{
				ObjectMeta: metav1.ObjectMeta{Name: "web"},
				Spec:       autoscalingv1.HorizontalPodAutoscalerSpec{ScaleTargetRef: target, MaxReplicas: 3, MinReplicas: new(int32(2))},
			}, nil
		})
	}))
	wantRow(t, row, workflow.Ready, "")
	after := before.restarted(t)
	runner := after.runner(t, func(b builder) {
		dependent.Typed(b, "node", func(run) (*autoscalingv2.HorizontalPodAutoscaler, error) {
			return &autoscalingv2.HorizontalPodAutoscaler{
				ObjectMeta: metav1.ObjectMeta{Name: "web"},
				Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
					ScaleTargetRef: autoscalingv2.CrossVersionObjectReference(target), MaxReplicas: 3,
				},
			}, nil
		})
	})
	row, sent := after.reconcile(t, runner)
	wantRow(t, row, workflow.Ready, "")
	wantSent(t, sent, "apply horizontalpodautoscalers.autoscaling")
	_, sent = after.reconcile(t, runner)
	wantSent(t, sent)
	live := read[autoscalingv2.HorizontalPodAutoscaler](t, after, "web")
	if *live.Spec.MinReplicas != 1 {
		t.Errorf("a field that isn't set any more is still %d", *live.Spec.MinReplicas)
	}
	for _, e := range live.ManagedFields {
		if e.Manager == operator && !strings.HasSuffix(e.APIVersion, "/v2") {
			t.Errorf("an entry in version %s remains", e.APIVersion)
		}
	}
}

// A primary that is gone leaves nothing in memory.
func TestForget(t *testing.T) { // R21 R32
	w, s := newWorld(t), &settings{data: map[string]string{"a": "1"}}
	runner := w.runner(t, s.declare)
	w.gate.shut()
	w.reconcile(t, runner)
	if got := dependent.Remembered(w.engine); got != 2 {
		t.Errorf("%d things are remembered, want a record and an answer", got)
	}
	w.engine.Forget(w.primary.UID)
	if got := dependent.Remembered(w.engine); got != 0 {
		t.Errorf("%d things are remembered of a primary that is gone", got)
	}
	w.gate.reopen()
	w.sees(t, read[corev1.ConfigMap](t, w, "settings"))
	row, sent := w.reconcile(t, runner) // hints: losing them costs nothing here
	wantRow(t, row, workflow.Ready, "")
	wantSent(t, sent)
}

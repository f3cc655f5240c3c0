// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/espalier-dev/espalier/internal/encode"
	"github.com/espalier-dev/espalier/internal/owned"
	"github.com/espalier-dev/espalier/internal/writes"
	"github.com/espalier-dev/espalier/workflow"
)

// statusTimeout bounds the status write, which outlives the run: a shutdown leaves a trace too.
const statusTimeout = 10 * time.Second

// writeStatus writes what a run came to, unless the primary says so already or has gone. Live is the primary as the run
// saw it.
func (c *controller[P]) writeStatus(ctx context.Context, live, summary P, result *workflow.Result) error {
	if onlyCancelled(result) {
		return nil // the run says nothing of the primary
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), statusTimeout)
	defer cancel()
	newest, err := c.read(ctx, client.ObjectKeyFromObject(live))
	if err != nil || isNil(newest) || newest.GetUID() != live.GetUID() {
		return err // the server doesn't compare UIDs of a status
	}
	if err := c.dropFormerConditions(ctx, newest); err != nil {
		return err
	}
	status, err := c.statusOf(live, newest, summary, result)
	if err != nil {
		return err
	}
	apiVersion, kind := c.options.GroupVersionKind.ToAPIVersionAndKind()
	body := map[string]any{
		"apiVersion": apiVersion, "kind": kind, "status": status,
		"metadata": map[string]any{"name": live.GetName(), "namespace": live.GetNamespace(), "uid": string(live.GetUID())},
	}
	if same, err := c.says(newest, body); err != nil || same {
		return err
	}
	return c.applyStatus(ctx, live, body)
}

// applyStatus writes a status. A primary that has gone or was replaced meanwhile needs none.
func (c *controller[P]) applyStatus(ctx context.Context, live P, body map[string]any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("encoding the status: %w", err)
	}
	answer := c.fresh()
	answer.SetName(live.GetName())
	answer.SetNamespace(live.GetNamespace())
	err = c.client.Status().Patch(ctx, answer, client.RawPatch(types.ApplyPatchType, text),
		client.FieldOwner(c.statusManager()), client.ForceOwnership, client.DisableReadYourWritesConsistency)
	if apierrors.IsNotFound(err) || writes.IsReplaced(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("writing the status: %w", err)
	}
	c.written.Put(c.key(live), answer)
	return nil
}

func (c *controller[P]) statusManager() string { return c.options.Name + "-status" }

// statusOf joins the author's own fields with ours. Conditions keep the time of their last transition.
func (c *controller[P]) statusOf(live, newest, summary P, result *workflow.Result) (map[string]any, error) {
	encoded, err := encoded(summary)
	if err != nil {
		return nil, fmt.Errorf("encoding what Summarize filled in: %w", err)
	}
	own, _ := encoded["status"].(map[string]any)
	status := maps.Clone(own)
	if status == nil {
		status = map[string]any{}
	}
	before, err := conditionsIn(newest)
	if err != nil {
		return nil, err
	}
	conditions := make([]any, 0, 3)
	for _, condition := range conditionsOf(result, live.GetGeneration()) {
		condition.LastTransitionTime = metav1.NewTime(time.Now().Truncate(time.Second))
		if old := meta.FindStatusCondition(before, condition.Type); old != nil && old.Status == condition.Status {
			condition.LastTransitionTime = old.LastTransitionTime
		}
		fields, err := encode.Object(condition)
		if err != nil {
			return nil, fmt.Errorf("encoding condition %s: %w", condition.Type, err)
		}
		conditions = append(conditions, fields)
	}
	status["conditions"] = conditions
	if c.fields.observedGeneration {
		status["observedGeneration"] = live.GetGeneration()
	}
	if c.fields.nodes {
		status["nodes"] = rowsOf(result)
	}
	return status, nil
}

func encoded[P client.Object](p P) (map[string]any, error) {
	if u, ok := any(p).(*unstructured.Unstructured); ok {
		// The author may have put any Go value into it.
		return encode.Object(map[string]any{"status": u.Object["status"]})
	}
	return encode.Object(p)
}

// conditionsIn reads conditions only to keep the times in them; what isn't one is passed over.
func conditionsIn[P client.Object](p P) ([]metav1.Condition, error) {
	fields, err := fieldsOf(p)
	if err != nil {
		return nil, err
	}
	list, _, _ := unstructured.NestedSlice(fields, "status", "conditions")
	var out []metav1.Condition
	for _, item := range list {
		m, _ := item.(map[string]any)
		var condition metav1.Condition
		if runtime.DefaultUnstructuredConverter.FromUnstructured(m, &condition) == nil {
			out = append(out, condition)
		}
	}
	return out, nil
}

// says reports whether a primary has the status already, and nothing else of ours.
func (c *controller[P]) says(newest P, body map[string]any) (bool, error) {
	version := c.options.GroupVersionKind.GroupVersion().String()
	entry := owned.Entry(newest.GetManagedFields(), c.statusManager(), "status", version)
	if entry == nil {
		return false, nil
	}
	set, err := owned.Parse(entry)
	if err != nil {
		return false, err
	}
	have, err := fieldsOf(newest)
	if err != nil {
		return false, err
	}
	want := body
	if _, untyped := any(newest).(*unstructured.Unstructured); !untyped {
		text, err := json.Marshal(body)
		if err != nil {
			return false, err
		}
		typed := c.fresh()
		if err := json.Unmarshal(text, typed); err != nil {
			return false, fmt.Errorf("reading the status as a %T: %w", typed, err)
		}
		if want, err = fieldsOf(typed); err != nil {
			return false, err
		}
	}
	return owned.Comparison{Sent: body, Want: want, Have: have}.Unchanged(set), nil
}

func fieldsOf[P client.Object](p P) (map[string]any, error) {
	if u, ok := any(p).(*unstructured.Unstructured); ok {
		return u.Object, nil
	}
	return runtime.DefaultUnstructuredConverter.ToUnstructured(p)
}

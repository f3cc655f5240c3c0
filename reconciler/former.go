// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// dropFormerConditions removes the conditions that the controller before this one has left. Nobody would ever change
// them again, and whoever waits for them would wait for ever.
func (c *controller[P]) dropFormerConditions(ctx context.Context, newest P) error {
	if len(c.options.FormerConditions) == 0 {
		return nil
	}
	conditions, err := conditionsIn(newest)
	if err != nil {
		return err
	}
	isFormer := func(condition metav1.Condition) bool {
		return slices.Contains(c.options.FormerConditions, condition.Type)
	}
	if !slices.ContainsFunc(conditions, isFormer) {
		return nil
	}
	patch, err := json.Marshal([]map[string]any{
		{"op": "replace", "path": "/metadata/resourceVersion", "value": newest.GetResourceVersion()},
		{"op": "replace", "path": "/status/conditions", "value": slices.DeleteFunc(conditions, isFormer)},
	})
	if err != nil {
		return fmt.Errorf("encoding the conditions: %w", err)
	}
	answer := c.fresh()
	answer.SetName(newest.GetName())
	answer.SetNamespace(newest.GetNamespace())
	err = c.client.Status().Patch(ctx, answer, client.RawPatch(types.JSONPatchType, patch),
		client.FieldOwner(c.statusManager()), client.DisableReadYourWritesConsistency)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("removing the conditions of a former controller: %w", err)
	}
	c.written.Put(c.key(newest), answer)
	return nil
}

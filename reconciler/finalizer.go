// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/espalier-dev/espalier/internal/writes"
)

func (c *controller[P]) hasFinalizer(p P) bool {
	return slices.Contains(p.GetFinalizers(), c.finalizer)
}

// settleFinalizer sets or removes the finalizer, if it isn't so already, and returns the primary as it is then: nil if
// it has gone, or has begun to go. It sends the UID: without it a deleted primary would be made anew.
func (c *controller[P]) settleFinalizer(ctx context.Context, p P, want bool) (P, error) {
	var none P
	if c.hasFinalizer(p) == want {
		return p, nil
	}
	meta := map[string]any{"name": p.GetName(), "uid": string(p.GetUID())}
	if p.GetNamespace() != "" {
		meta["namespace"] = p.GetNamespace()
	}
	if want {
		meta["finalizers"] = []string{c.finalizer}
	}
	apiVersion, kind := c.options.GroupVersionKind.ToAPIVersionAndKind()
	body, err := json.Marshal(map[string]any{"apiVersion": apiVersion, "kind": kind, "metadata": meta})
	if err != nil {
		return none, fmt.Errorf("encoding the finalizer: %w", err)
	}
	answer := c.fresh()
	answer.SetName(p.GetName())
	answer.SetNamespace(p.GetNamespace())
	err = c.client.Patch(ctx, answer, client.RawPatch(types.ApplyPatchType, body),
		client.FieldOwner(c.options.Name), client.ForceOwnership, client.DisableReadYourWritesConsistency)
	switch {
	case writes.IsReplaced(err), apierrors.IsNotFound(err), want && writes.Names(err, "metadata.finalizers"):
		return none, nil // gone, replaced or being deleted: its event is on the way
	case err != nil:
		return none, fmt.Errorf("settling finalizer %q: %w", c.finalizer, err)
	}
	c.written.Put(c.key(p), answer)
	if !want && c.hasFinalizer(answer) {
		return answer, c.wrest(ctx, answer, func(name string) bool { return name == c.finalizer })
	}
	return answer, nil
}

// isHeld reports whether a finalizer keeps a primary for us: ours, or a former one.
func (c *controller[P]) isHeld(p P) bool { return c.hasFinalizer(p) || c.hasFormerFinalizer(p) }

func (c *controller[P]) hasFormerFinalizer(p P) bool {
	return slices.ContainsFunc(p.GetFinalizers(), c.isFormerFinalizer)
}

func (c *controller[P]) isFormerFinalizer(name string) bool {
	return slices.Contains(c.options.FormerFinalizers, name)
}

// letGo removes all finalizers of ours, old and new.
func (c *controller[P]) letGo(ctx context.Context, p P) error {
	left, err := c.settleFinalizer(ctx, p, false)
	if err != nil || isNil(left) {
		return err
	}
	return c.dropFormerFinalizers(ctx, left)
}

// dropFormerFinalizers removes what controllers before this one have left, once ours is there or isn't needed.
func (c *controller[P]) dropFormerFinalizers(ctx context.Context, p P) error {
	if !c.hasFormerFinalizer(p) {
		return nil
	}
	return c.wrest(ctx, p, c.isFormerFinalizer)
}

// wrest removes finalizers that somebody else owns too, such as a former name of this controller, or a restore.
func (c *controller[P]) wrest(ctx context.Context, p P, ours func(string) bool) error {
	left := slices.DeleteFunc(slices.Clone(p.GetFinalizers()), ours)
	patch, err := json.Marshal([]map[string]any{
		{"op": "replace", "path": "/metadata/resourceVersion", "value": p.GetResourceVersion()},
		{"op": "replace", "path": "/metadata/finalizers", "value": left},
	})
	if err != nil {
		return fmt.Errorf("encoding the finalizers: %w", err)
	}
	answer := c.fresh()
	answer.SetName(p.GetName())
	answer.SetNamespace(p.GetNamespace())
	err = c.client.Patch(ctx, answer, client.RawPatch(types.JSONPatchType, patch), client.DisableReadYourWritesConsistency)
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case err != nil:
		return fmt.Errorf("leaving finalizers %q of %q: %w", left, p.GetFinalizers(), err)
	}
	c.written.Put(c.key(p), answer)
	return nil
}

// SPDX-License-Identifier: Apache-2.0

package envtest

import (
	"context"
	"fmt"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// startTimeout bounds each step of a start; it is generous, for loaded machines.
	startTimeout = 90 * time.Second
	// pollInterval is how often a condition is looked at.
	pollInterval = 25 * time.Millisecond
)

// await calls check until it succeeds. When ctx ends it returns the cause, when the time is over the last failure.
func await(ctx context.Context, what string, check func(context.Context) error) error {
	timeout := time.NewTimer(startTimeout)
	defer timeout.Stop()
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for {
		err := check(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for %s: %w", what, context.Cause(ctx))
		case <-timeout.C:
			return fmt.Errorf("waiting for %s: gave up after %s: %w", what, startTimeout, err)
		case <-tick.C:
		}
	}
}

// awaitObject waits until an object exists, and reads it.
func awaitObject(ctx context.Context, c client.Client, object client.Object) error {
	what := fmt.Sprintf("%T %s", object, client.ObjectKeyFromObject(object))
	return await(ctx, what, func(ctx context.Context) error {
		return c.Get(ctx, client.ObjectKeyFromObject(object), object)
	})
}

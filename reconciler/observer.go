// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/espalier-dev/espalier/workflow"
)

// observer logs what nodes do.
type observer struct{}

// NodeStarted does nothing.
func (observer) NodeStarted(ctx context.Context, _ workflow.NodeID) context.Context { return ctx }

// NodeEnded logs changes and failures; what changed nothing is silent.
func (observer) NodeEnded(ctx context.Context, at workflow.NodeID, operation workflow.Operation, err error) {
	switch {
	case err != nil:
		log.FromContext(ctx).Info("Node failed or waits", "node", at.Node, "key", at.Key, "reason", err.Error())
	case operation != workflow.None:
		log.FromContext(ctx).V(1).Info("Changed dependent", "node", at.Node, "key", at.Key, "operation", operation)
	}
}

// Panicked logs the stack.
func (observer) Panicked(ctx context.Context, at workflow.NodeID, value any, stack []byte) {
	log.FromContext(ctx).Error(fmt.Errorf("panic: %v", value), "Node panicked",
		"node", at.Node, "key", at.Key, "stack", string(stack))
}

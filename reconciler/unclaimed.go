// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"context"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/espalier-dev/espalier/workflow"
)

// reportUnclaimed logs what nodes have left that the graph doesn't have any more, once per generation of the primary.
func (c *controller[P]) reportUnclaimed(ctx context.Context, live P, result *workflow.Result) {
	uid, generation := live.GetUID(), live.GetGeneration()
	c.mutex.Lock()
	known, ok := c.looked[uid]
	c.looked[uid] = generation
	c.mutex.Unlock()
	if ok && known == generation {
		return
	}
	left, err := c.engine.Unclaimed(ctx, live, c.workflow, func(node string) bool {
		return slices.ContainsFunc(result.Nodes, func(row workflow.NodeResult) bool { return row.Name == node })
	})
	switch {
	case err != nil:
		log.FromContext(ctx).Error(err, "Looking for what former nodes have left")
	case len(left) > 0:
		log.FromContext(ctx).Info("Unclaimed: nodes that the graph doesn't have any more have left objects, which stay; "+
			"declare the nodes with dependent.Retired to delete them", "objects", left)
	}
}

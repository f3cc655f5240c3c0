// SPDX-License-Identifier: Apache-2.0

package dependent

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Unclaimed names the objects that a workflow has written for a primary by nodes that it doesn't have any more, as far
// as the cache shows the kinds that are bound: they are left as they are until the node is declared as [Retired], or is
// back. An older version of the operator may want them. It sends no request.
func (e *Engine) Unclaimed(
	ctx context.Context, primary client.Object, workflow string, has func(node string) bool,
) (unclaimed []string, err error) {
	t := tracking{owner: primary.GetUID(), workflow: workflow}
	for _, s := range e.written() {
		found, err := s.findBy(ctx, tracking.whole, t, s.home(primary))
		if isNotServed(err) {
			continue
		}
		if err != nil {
			return unclaimed, err
		}
		for _, obj := range found {
			if node := e.read(obj).node; !has(node) {
				unclaimed = append(unclaimed, fmt.Sprintf("%s of node %q", s.called(obj), node))
			}
		}
	}
	return unclaimed, nil
}

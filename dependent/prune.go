// SPDX-License-Identifier: Apache-2.0

package dependent

import (
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/espalier-dev/espalier/workflow"
)

// prune parts with what the node had under other names than the present one, or of other kinds. A node that wasn't
// reconciled prunes nothing: it doesn't know which one is wanted.
func (w *write[P, T]) prune(r *workflow.Run[P]) (workflow.Removal, error) {
	found, err := w.object.find(r)
	if err != nil {
		return workflow.Removal{}, err
	}
	var left []client.Object
	for _, obj := range found {
		if client.ObjectKeyFromObject(obj) != w.draft.name {
			left = append(left, obj)
		}
	}
	if len(left) > 0 {
		return w.object.partWith(r, left)
	}
	for _, former := range w.object.formerly {
		if removal, err := former.Delete(r); err != nil || !removal.Gone {
			return removal, err
		}
	}
	if now := w.remembered(); now.uid != "" {
		now.pruned = true
		w.engine().remember(w.tracking.owner, w.key(), now)
	}
	return workflow.Removal{Gone: true}, nil
}

func (w *write[P, T]) remembered() record { return w.engine().recordOf(w.tracking.owner, w.key()) }

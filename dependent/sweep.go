// SPDX-License-Identifier: Apache-2.0

package dependent

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Remains asks the API server itself, kind by kind, whether any object is left that was written for a primary, and
// names one; "" if there is none. A cache can't tell: what a selector hides, or what was written by an answer that got
// lost, isn't in it. It costs a request per kind.
func (e *Engine) Remains(ctx context.Context, owner types.UID) (string, error) {
	for _, s := range e.all() {
		list := &metav1.PartialObjectMetadataList{}
		list.SetGroupVersionKind(s.gvk.GroupVersion().WithKind(s.gvk.Kind + "List"))
		err := e.target.GetAPIReader().List(ctx, list, client.MatchingLabels{e.OwnerLabel(): string(owner)})
		if meta.IsNoMatchError(err) {
			continue // the kind isn't served any more, so nothing of it is there
		}
		if err != nil {
			return "", fmt.Errorf("looking whether a %s is left: %w", s.gvk.Kind, err)
		}
		for i := range list.Items {
			if item := &list.Items[i]; e.wrote(item) {
				return fmt.Sprintf("%s in namespace %q", s.called(item), item.GetNamespace()), nil
			}
		}
	}
	return "", nil
}

// SPDX-License-Identifier: Apache-2.0

package dependent

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Remains asks the API server itself, kind by kind, whether an object is left that a workflow has written for a primary
// by a node that deletes what it wrote, and names one; "" if there is none. A cache can't tell: what a selector hides,
// or what was written by an answer that got lost, isn't in it. It costs a request per kind.
func (e *Engine) Remains(
	ctx context.Context, primary client.Object, workflow string, deletes func(node string) bool,
) (string, error) {
	written := client.MatchingLabels{
		e.OwnerLabel(): string(primary.GetUID()), e.label(workflowLabel): workflow,
	}
	for _, s := range e.written() {
		list := &metav1.PartialObjectMetadataList{}
		list.SetGroupVersionKind(s.gvk.GroupVersion().WithKind(s.gvk.Kind + "List"))
		target, err := e.clusterOf(s.cluster)
		if err == nil {
			err = target.GetAPIReader().List(ctx, list, written, client.InNamespace(s.home(primary)))
		}
		if isUnknownPath(err) && isNotServed(s.discover(ctx, target)) {
			continue // so nothing of it is there
		}
		if err != nil {
			return "", fmt.Errorf("looking whether a %s is left: %w", s.gvk.Kind, err)
		}
		for i := range list.Items {
			if item := &list.Items[i]; e.wrote(item) && deletes(item.Labels[e.label(nodeLabel)]) {
				return fmt.Sprintf("%s in namespace %q", s.called(item), item.GetNamespace()), nil
			}
		}
	}
	return "", nil
}

// home returns the namespace in which everything of this kind is that a primary has; "" if that may be any, or none.
func (s *source) home(primary client.Object) string {
	if !s.isNamespaced() || s.anyNamespace {
		return ""
	}
	return primary.GetNamespace()
}

// SPDX-License-Identifier: Apache-2.0

package dependent

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/util/csaupgrade"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// FormerNames names what the node was called before, group prefixes included: what is tracked under these names is its
// own. A node that the graph still has must not be named.
func (p *Policies[Self]) FormerNames(nodes ...string) Self {
	p.policy.formerNames = append(p.policy.formerNames, nodes...)
	return p.self
}

// FormerKinds names kinds that the node's object was of before, such as a Deployment that has become a StatefulSet:
// what is tracked for the node of such a kind goes once the new object, and all that depends on the node, are ready.
// Give empty objects.
func (p *Policies[Self]) FormerKinds(examples ...client.Object) Self {
	p.policy.formerKinds = append(p.policy.formerKinds, examples...)
	return p.self
}

// bindFormerKinds makes what the node had of other kinds its own.
func (o *object[P, T]) bindFormerKinds() error {
	for _, example := range o.policy.formerKinds {
		e, gvk, err := kindIn(o.engine, example)
		if err != nil {
			return err
		}
		if gvk == o.source.gvk {
			return fmt.Errorf("FormerKinds has the kind that the node has now, %s", gvk.Kind)
		}
		s, err := e.source(o.policy.cluster, gvk, example)
		if err != nil {
			return err
		}
		s.writes.Store(true)
		s.anyNamespace = s.anyNamespace || o.policy.anyNamespace
		kind := &objectKind[P, client.Object]{example: example, policy: o.policy}
		o.formerly = append(o.formerly, &object[P, client.Object]{objectKind: kind, engine: e, source: s})
	}
	return nil
}

// hasFormer reports whether a former manager owns anything of an object. What it owns and we don't want any more would
// otherwise stay for ever.
func (e *Engine) hasFormer(obj client.Object) bool {
	return slices.ContainsFunc(obj.GetManagedFields(), e.isFormer)
}

// isFormer reports whether an entry is of a former manager. Our own name is one, where it didn't apply: a controller
// that updates objects is called after its program, too.
func (e *Engine) isFormer(m metav1.ManagedFieldsEntry) bool {
	if m.Subresource != "" {
		return false
	}
	if m.Manager == e.options.FieldManager {
		return m.Operation == metav1.ManagedFieldsOperationUpdate
	}
	return slices.Contains(e.options.FormerManagers, m.Manager)
}

// isOurs reports whether an entry is our own.
func (e *Engine) isOurs(m metav1.ManagedFieldsEntry) bool {
	return m.Manager == e.options.FieldManager && m.Operation == metav1.ManagedFieldsOperationApply && m.Subresource == ""
}

// heir returns the managed fields of an object as they are once what former managers own is ours.
func (e *Engine) heir(obj client.Object) ([]metav1.ManagedFieldsEntry, error) {
	meta := &metav1.PartialObjectMetadata{}
	names := sets.Set[string]{}
	for _, m := range obj.GetManagedFields() {
		if e.isFormer(m) {
			names.Insert(m.Manager)
			m.Operation = metav1.ManagedFieldsOperationUpdate // csaupgrade knows these alone
		}
		meta.ManagedFields = append(meta.ManagedFields, m)
	}
	for _, name := range sets.List(names) {
		err := csaupgrade.UpgradeManagedFields(meta, sets.New(name), e.options.FieldManager)
		if err != nil {
			return nil, fmt.Errorf("taking over the fields of manager %q: %w", name, err)
		}
	}
	return meta.ManagedFields, nil
}

// disowned returns the managed fields of an object as they are once neither we nor former managers own anything.
func (e *Engine) disowned(obj client.Object) []metav1.ManagedFieldsEntry {
	all := obj.GetManagedFields()
	left := slices.DeleteFunc(slices.Clone(all), func(m metav1.ManagedFieldsEntry) bool {
		return e.isOurs(m) || e.isFormer(m)
	})
	if len(left) == 0 && len(all) > 0 {
		return []metav1.ManagedFieldsEntry{{}} // an empty list would be taken for a client that doesn't know the field
	}
	return left
}

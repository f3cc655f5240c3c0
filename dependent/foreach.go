// SPDX-License-Identifier: Apache-2.0

package dependent

import (
	"context"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/espalier-dev/espalier/workflow"
)

// ForEach declares one object per key: a [workflow.Repeat] of one node, called like the set with "-item" behind it. The
// items are written beside each other, and one that fails doesn't stop the others. Each needs a name of its own, such
// as Name(primary, key). An object whose key isn't wanted any more is deleted, once what depends on the set has been
// reconciled without it.
func ForEach[T any, PT ObjectOf[T], P client.Object, AC ApplyConfiguration](
	b *workflow.Builder[P], name string, keys func(r *workflow.Run[P]) ([]string, error),
	desired func(r *workflow.Run[P], key string) (AC, error),
) *Set[P, PT] {
	s := &Set[P, PT]{}
	s.self = s
	s.Repeated = workflow.Repeat(b, name, keys,
		func(b *workflow.Builder[P], key workflow.Key[P, string]) *Object[P, PT] {
			item := applyKind[T, PT](func(r *workflow.Run[P]) (AC, error) { return desired(r, key.Of(r)) })
			h := declare(b, "item", item)
			item.policy = &s.policy
			return h
		})
	return s
}

// Set is the handle of objects of type T, one per key. An edge to it needs all of them, unless [Set.AtLeast] or
// [Set.Any] says otherwise; it yields them by key.
type Set[P, T client.Object] struct {
	*workflow.Repeated[P, string, *Object[P, T]]
	Policies[*Set[P, T]]
}

// Get returns the objects by key; those that aren't there, where fewer than all are enough, are missing.
func (s *Set[P, T]) Get(r *workflow.Run[P]) map[string]T {
	return s.items(r, s.Repeated.Get(r))
}

// Lookup returns the objects by key, and whether the set is there.
func (s *Set[P, T]) Lookup(r *workflow.Run[P]) (map[string]T, bool) {
	keys, ok := s.Repeated.Lookup(r)
	return s.items(r, keys), ok
}

func (s *Set[P, T]) items(r *workflow.Run[P], keys []string) map[string]T {
	all := make(map[string]T, len(keys))
	for _, key := range keys {
		if item, ok := s.At(r, key); ok {
			all[key] = item
		}
	}
	return all
}

// At returns the object of one key, and whether it is there.
func (s *Set[P, T]) At(r *workflow.Run[P], key string) (T, bool) {
	return s.Nodes.Lookup(s.Repeated.At(r, key))
}

// All makes edges need all items, which is the default.
func (s *Set[P, T]) All() *Set[P, T] { return s.AtLeast(0) }

// Any makes edges need one item.
func (s *Set[P, T]) Any() *Set[P, T] { return s.AtLeast(1) }

// AtLeast makes edges need n items: see [workflow.Repeated.AtLeast].
func (s *Set[P, T]) AtLeast(n int) *Set[P, T] {
	s.Repeated.AtLeast(n)
	return s
}

// MaxUnavailable bounds how many items may be unready at once because of changes: see
// [workflow.Repeated.MaxUnavailable].
func (s *Set[P, T]) MaxUnavailable(n int) *Set[P, T] {
	s.Repeated.MaxUnavailable(n)
	return s
}

// InOrder changes an item only once those before it are ready: see [workflow.Repeated.InOrder].
func (s *Set[P, T]) InOrder() *Set[P, T] {
	s.Repeated.InOrder()
	return s
}

// DependsOn adds prerequisites of the whole set.
func (s *Set[P, T]) DependsOn(prerequisites ...workflow.Edge[P]) *Set[P, T] {
	s.Repeated.DependsOn(prerequisites...)
	return s
}

// ActivateWhen adds an activation condition of the whole set.
func (s *Set[P, T]) ActivateWhen(name string, holds func(r *workflow.Run[P]) workflow.Verdict) *Set[P, T] {
	s.Repeated.ActivateWhen(name, holds)
	return s
}

// ReconcileWhen adds a precondition of the whole set. Unmet: none of its objects must exist.
func (s *Set[P, T]) ReconcileWhen(name string, holds func(r *workflow.Run[P]) workflow.Verdict) *Set[P, T] {
	s.Repeated.ReconcileWhen(name, holds)
	return s
}

// HoldUntil adds a gate that is asked for each item: r.Key() tells which.
func (s *Set[P, T]) HoldUntil(name string, holds func(r *workflow.Run[P]) workflow.Verdict) *Set[P, T] {
	s.Nodes.HoldUntil(name, holds)
	return s
}

// ReadyWhen adds a condition on each item. It replaces the kind's own rule for readiness.
func (s *Set[P, T]) ReadyWhen(name string, holds func(r *workflow.Run[P], item T) workflow.Verdict) *Set[P, T] {
	s.Nodes.ReadyWhen(name, holds)
	return s
}

// DeleteWhen adds a precondition of the deletion of each item.
func (s *Set[P, T]) DeleteWhen(name string, holds func(r *workflow.Run[P]) workflow.Verdict) *Set[P, T] {
	s.Nodes.DeleteWhen(name, holds)
	return s
}

// DeletedWhen adds a postcondition of the deletion of each item.
func (s *Set[P, T]) DeletedWhen(name string, holds func(r *workflow.Run[P]) workflow.Verdict) *Set[P, T] {
	s.Nodes.DeletedWhen(name, holds)
	return s
}

// Timeout bounds each write of an item; the default is a minute.
func (s *Set[P, T]) Timeout(d time.Duration) *Set[P, T] {
	s.Nodes.Timeout(d)
	return s
}

// Backoff spaces the retries after failures of an item.
func (s *Set[P, T]) Backoff(spacing workflow.Backoff) *Set[P, T] {
	s.Nodes.Backoff(spacing)
	return s
}

// ProgressDeadline fails an item for good that isn't ready for longer than d.
func (s *Set[P, T]) ProgressDeadline(d time.Duration) *Set[P, T] {
	s.Nodes.ProgressDeadline(d)
	return s
}

// OnFailure sets what is done when an item fails for good.
func (s *Set[P, T]) OnFailure(
	answer func(ctx context.Context, r *workflow.Run[P], err error) error,
) *Set[P, T] {
	s.Nodes.OnFailure(answer)
	return s
}

// SPDX-License-Identifier: Apache-2.0

package workflow

// Value declares a node that computes a value from what it depends on. It owns nothing in the world, does no I/O and
// costs no goroutine; compute runs at most once per run.
func Value[P, V any](b *Builder[P], name string, compute func(r *Run[P]) (V, error)) *Node[P, V] {
	return Add(b, name, computed[P, V](compute))
}

type computed[P, V any] func(r *Run[P]) (V, error)

func (computed[P, V]) ManagesNothing() {}

func (c computed[P, V]) Bind(any) (Resource[P, V], error) { return c, nil }

func (computed[P, V]) Observe(*Run[P]) (V, Presence, error) {
	var none V
	return none, Absent, nil
}

func (c computed[P, V]) Prepare(r *Run[P]) (Step[V], error) {
	v, err := c(r)
	return Step[V]{Value: v, Ready: Met()}, err
}

func (computed[P, V]) Delete(*Run[P]) (Removal, error) { return Removal{Gone: true}, nil }

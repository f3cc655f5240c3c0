// SPDX-License-Identifier: Apache-2.0

package workflow

// Value declares a node that computes a value from what it depends on. It owns nothing in the world, does no I/O and
// costs no goroutine; compute runs at most once per run.
func Value[P, V any](b *Builder[P], name string, compute func(r *Run[P]) (V, error)) *Computed[P, V] {
	h := &Computed[P, V]{}
	return Declare(b, name, computing[P, V](compute), &h.Base, h)
}

type computing[P, V any] func(r *Run[P]) (V, error)

func (computing[P, V]) ManagesNothing() {}

func (c computing[P, V]) Bind(any) (Resource[P, V], error) { return c, nil }

func (computing[P, V]) Observe(*Run[P]) (V, Presence, error) {
	var none V
	return none, Absent, nil
}

func (c computing[P, V]) Prepare(r *Run[P]) (Step[V], error) {
	v, err := c(r)
	return Step[V]{Value: v, Ready: Met()}, err
}

func (computing[P, V]) Delete(*Run[P]) (Removal, error) { return Removal{Gone: true}, nil }

// computed returns what a node that manages nothing, and observes nothing, yields outside of its turn: in a cleanup, to
// the nodes that exist only there.
func computed[P any](of resource[P], view *Run[P]) (any, Presence, error) {
	view.executing = true
	var step prepared
	if err := of.prepare(view, &step); err != nil || step.run != nil {
		return nil, Indeterminate, err
	}
	return step.value, Present, nil
}

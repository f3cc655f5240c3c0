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

// computeFor works out what v reads in a cleanup from nodes that manage nothing and have no turn there: each once,
// before the first that reads it.
func (x *execution[P]) computeFor(v int32) error {
	for _, a := range x.layout.prerequisites.of(v) {
		if a.kind == gone || x.traits(a.to).has(manages|atCleanup) || x.marks[a.to].applied {
			continue
		}
		if err := x.computeFor(a.to); err != nil {
			return err
		}
		if err := x.compute(a.to); err != nil {
			return &NodeError{Node: x.layout.vertices[a.to].title(), Err: err}
		}
	}
	return nil
}

// compute takes what v observes, or else what it computes.
func (x *execution[P]) compute(v int32) error {
	value, err := inline(x, v, func(r *Run[P]) (any, error) {
		value, presence, err := x.resource(v).observe(r)
		if err != nil || presence == Present {
			return value, err
		}
		r.executing = true
		var step prepared
		err = x.resource(v).prepare(r, &step)
		return step.value, err
	})
	x.cells[v].value, x.marks[v].applied = value, err == nil
	return err
}

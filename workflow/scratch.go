// SPDX-License-Identifier: Apache-2.0

package workflow

import "sync"

// scratch is the memory of a run that nobody keeps: it is used again by later runs of the same Runner. The rows of the
// result aren't in it.
type scratch[P any] struct {
	// By vertex: marks are what a walk looks at again and again, cells the rest.
	marks []mark
	cells []cell
	views []Run[P]
	slabs []slab // by type of value

	reconciling, deleting queue
}

// borrow takes scratch for a run from the pool.
func borrow[P any](pool *sync.Pool, w *Workflow[P]) *scratch[P] {
	if s, ok := pool.Get().(*scratch[P]); ok {
		return s
	}
	s := &scratch[P]{slabs: make([]slab, len(w.yields))}
	for i, count := range w.yields {
		s.slabs[i].size = count
	}
	return s
}

// giveBack ends the use of the scratch, unless a function that was abandoned may still use it.
func (x *execution[P]) giveBack(pool *sync.Pool) {
	if x.abandoned {
		return
	}
	s := x.scratch
	x.scratch = nil
	clear(s.marks)
	clear(s.cells)
	clear(s.views)
	s.marks, s.cells, s.views = s.marks[:0], s.cells[:0], s.views[:0]
	for i := range s.slabs {
		if s.slabs[i].values != nil {
			s.slabs[i].values.reset()
		}
	}
	pool.Put(s)
}

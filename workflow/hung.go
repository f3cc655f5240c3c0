// SPDX-License-Identifier: Apache-2.0

package workflow

import (
	"sync"
	"sync/atomic"
)

// identity is what tells a node of a primary from all others, whatever their vertices in a run.
type identified struct {
	id   string
	node int32
	key  string
}

func (x *execution[P]) identity(v int32) identified {
	at := &x.layout.vertices[v]
	return identified{x.subject.ID, at.node.index, at.key()}
}

// hung holds the nodes whose functions were abandoned and haven't returned yet. Unlike what a Runner remembers, these
// aren't hints: executing such a node again would do its work twice at once.
type hung struct {
	some  atomic.Int32
	mutex sync.Mutex
	nodes map[identified]bool
}

func (h *hung) add(which identified) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	if h.nodes == nil {
		h.nodes = map[identified]bool{}
	}
	h.nodes[which] = true
	h.some.Store(int32(len(h.nodes)))
}

func (h *hung) remove(which identified) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	delete(h.nodes, which)
	h.some.Store(int32(len(h.nodes)))
}

// any spares most runs the question.
func (h *hung) any() bool { return h.some.Load() > 0 }

func (h *hung) has(which identified) bool {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	return h.nodes[which]
}

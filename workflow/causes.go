// SPDX-License-Identifier: Apache-2.0

package workflow

const maxCauses = 8

// causes is a set of root causes for which a vertex waits, shared by all that wait for the same. It holds one vertex
// more than are named, to know that there are more.
type causes struct {
	vertices []int32 // sorted by declaration
	names    []string
}

// merged returns the union of two sets, cut to what is named and one more. Both may be nil.
func (x *execution[P]) merged(a, b *causes) *causes {
	if a == nil || a == b {
		return b
	}
	if b == nil {
		return a
	}
	union, position := make([]int32, 0, maxCauses+1), x.layout.position
	for i, k := 0, 0; len(union) < cap(union) && (i < len(a.vertices) || k < len(b.vertices)); {
		switch {
		case k == len(b.vertices) || i < len(a.vertices) && position[a.vertices[i]] < position[b.vertices[k]]:
			union = append(union, a.vertices[i])
			i++
		case i == len(a.vertices) || position[b.vertices[k]] < position[a.vertices[i]]:
			union = append(union, b.vertices[k])
			k++
		default:
			i++
		}
	}
	return &causes{vertices: union}
}

// causesOf returns what stands for v where something waits for it: what v itself waits for, else v.
func (x *execution[P]) causesOf(v int32) *causes {
	if c := &x.cells[v]; c.why != nil {
		return c.why
	}
	return x.itself(v)
}

func (x *execution[P]) itself(v int32) *causes {
	c := &x.cells[v]
	if c.self == nil {
		c.self = &causes{vertices: []int32{v}}
	}
	return c.self
}

// blame records why v waits.
func (x *execution[P]) blame(v int32, state State, why *causes) {
	if why.names == nil {
		why.names = make([]string, min(len(why.vertices), maxCauses))
		for i := range why.names {
			why.names[i] = x.layout.vertices[why.vertices[i]].title()
		}
	}
	x.cells[v].why = why
	x.row(v).State, x.row(v).BlockedBy, x.row(v).MoreCauses = state, why.names, len(why.vertices) > maxCauses
}

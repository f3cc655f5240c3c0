// SPDX-License-Identifier: Apache-2.0

package workflow

import (
	"math/bits"
	"slices"
)

// queue holds the vertices that may start, by rank. Ranks are fixed by the layout, so a hierarchical bitmap does: push
// and pop touch one word per level, which is one more for every factor of 64.
type queue struct {
	levels [][]uint64
	rank   []int32 // of a vertex
	vertex []int32 // of a rank
	length int
}

func newQueue(rank, vertex []int32) (q queue) {
	q.reset(rank, vertex)
	return q
}

// reset makes an empty queue of q, which has been emptied if it was used before.
func (q *queue) reset(rank, vertex []int32) {
	*q = queue{rank: rank, vertex: vertex, levels: q.levels}
	words, level := (len(vertex)+63)/64, 0
	for ; ; level++ {
		if level == len(q.levels) {
			q.levels = append(q.levels, nil)
		}
		q.levels[level] = more(q.levels[level][:0], max(words, 1))
		if words <= 1 {
			break
		}
		words = (words + 63) / 64
	}
	q.levels = q.levels[:level+1]
}

func (q *queue) push(v int32) {
	q.length++
	at := uint(q.rank[v])
	for _, level := range q.levels {
		was := level[at/64]
		level[at/64] = was | 1<<(at%64)
		if was != 0 {
			return // the levels above know this word already
		}
		at /= 64
	}
}

// first returns the vertex of the lowest rank. The queue must not be empty.
func (q *queue) first() int32 { return q.vertex[q.lowest()] }

// pop removes the vertex of the lowest rank and returns it. The queue must not be empty.
func (q *queue) pop() int32 {
	q.length--
	at := q.lowest()
	v := q.vertex[at]
	for _, level := range q.levels {
		level[at/64] &^= 1 << (at % 64)
		if level[at/64] != 0 {
			break
		}
		at /= 64
	}
	return v
}

func (q *queue) lowest() uint {
	at := uint(0)
	for _, level := range slices.Backward(q.levels) {
		at = at*64 + uint(bits.TrailingZeros64(level[at]))
	}
	return at
}

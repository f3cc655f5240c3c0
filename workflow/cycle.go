// SPDX-License-Identifier: Apache-2.0

package workflow

import "gonum.org/v1/gonum/graph/topo"

// cycles returns, for each group of vertices that all reach each other, a shortest cycle through the group's first
// vertex, the first again at its end; of several, the one whose next vertices come first. Groups come in the
// order of their first vertices.
func cycles(next [][]int32) (found [][]int32) {
	group := groups(next)
	seen := make([]bool, len(next))
	members := make([]int, len(next))
	for _, g := range group {
		members[g]++
	}
	for v := range next {
		if g := group[v]; members[g] > 1 && !seen[g] {
			seen[g] = true
			found = append(found, shortest(next, group, int32(v)))
		}
	}
	return found
}

// groups numbers the strongly connected components (Tarjan 1972).
func groups(next [][]int32) []int32 {
	group := make([]int32, len(next))
	for i, members := range topo.TarjanSCC(digraph(next)) {
		for _, m := range members {
			group[m.ID()] = int32(i)
		}
	}
	return group
}

// shortest returns the first of the shortest cycles through start within its group. It is breadth-first backwards, then
// down the distances, so that the first of the next vertices is taken at every step.
func shortest(next [][]int32, group []int32, start int32) []int32 {
	previous := make([][]int32, len(next))
	for v, ws := range next {
		for _, w := range ws {
			if group[v] == group[start] && group[w] == group[start] {
				previous[w] = append(previous[w], int32(v))
			}
		}
	}
	distance := make([]int32, len(next)) // to start, plus one; 0 is unreached
	distance[start] = 1
	for queue := []int32{start}; len(queue) > 0; queue = queue[1:] {
		for _, v := range previous[queue[0]] {
			if distance[v] == 0 {
				distance[v] = distance[queue[0]] + 1
				queue = append(queue, v)
			}
		}
	}
	path := []int32{start}
	for at := start; len(path) == 1 || at != start; path = append(path, at) {
		at = closest(next[at], group, group[start], distance)
	}
	return path
}

func closest(next, group []int32, in int32, distance []int32) int32 {
	best := int32(-1)
	for _, w := range next {
		if group[w] != in || distance[w] == 0 {
			continue
		}
		if best < 0 || distance[w] < distance[best] || distance[w] == distance[best] && w < best {
			best = w
		}
	}
	return best
}

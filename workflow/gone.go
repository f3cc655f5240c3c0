// SPDX-License-Identifier: Apache-2.0

package workflow

// goneCycles finds every Gone edge over which a reconcile would have to wait for itself: the declaring vertex and its
// prerequisite. It looks for cycles among three kinds of task per vertex x: reconciling x, deleting x, and reconciling
// whatever manages something and uses x over vertices that don't.
func goneCycles(l links, manages []bool) (found [][2]int32) {
	n := int32(len(manages))
	tasks := make([][]int32, 3*n)
	reconcile, remove, beyond := func(x int32) int32 { return x }, func(x int32) int32 { return n + x }, func(x int32) int32 { return 2*n + x }
	wait := func(task, on int32) { tasks[task] = append(tasks[task], on) }
	users := func(d int32) int32 {
		if manages[d] {
			return reconcile(d)
		}
		return beyond(d)
	}
	for x := range n {
		for _, a := range l.prerequisites[x] {
			wait(reconcile(x), reconcile(a.to))
			if a.kind == gone && manages[a.to] {
				wait(reconcile(x), remove(a.to))
			}
		}
		for _, a := range l.dependants[x] {
			if a.kind == gone {
				continue
			}
			if a.kind != loose || manages[a.to] {
				wait(remove(x), remove(a.to))
			}
			if a.kind == optional {
				wait(remove(x), users(a.to))
			}
			if a.kind != loose {
				wait(beyond(x), users(a.to))
			}
		}
	}
	group := groups(tasks)
	for x := range n {
		for _, a := range l.prerequisites[x] {
			if a.kind == gone && manages[a.to] && group[reconcile(x)] == group[remove(a.to)] {
				found = append(found, [2]int32{x, a.to})
			}
		}
	}
	return found
}

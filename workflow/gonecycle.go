// SPDX-License-Identifier: Apache-2.0

package workflow

// goneCycles finds every Gone edge over which a reconcile would have to wait for itself: the declaring vertex and its
// prerequisite.
func goneCycles(l links, manages []bool) (found [][2]int32) {
	w := waiting{manages: manages, tasks: make([][]int32, 3*len(manages))}
	for x := range w.count() {
		w.addReconcile(x, l.prerequisites.of(x))
		w.addDelete(x, l.downstream.of(x))
	}
	group := groups(w.tasks)
	for x := range w.count() {
		for _, a := range l.prerequisites.of(x) {
			if w.waitsForDelete(a) && group[w.reconcile(x)] == group[w.remove(a.to)] {
				found = append(found, [2]int32{x, a.to})
			}
		}
	}
	return found
}

// waiting is which task may have to wait for which. A vertex x stands for three: reconciling it, deleting it, and
// reconciling whatever manages something and uses x over vertices that manage nothing.
type waiting struct {
	manages []bool
	tasks   [][]int32
}

func (w *waiting) count() int32 { return int32(len(w.manages)) }

func (w *waiting) reconcile(x int32) int32 { return x }

func (w *waiting) remove(x int32) int32 { return w.count() + x }

func (w *waiting) beyond(x int32) int32 { return 2*w.count() + x }

// users is the task of reconciling d, or what uses it if d manages nothing.
func (w *waiting) users(d int32) int32 {
	if w.manages[d] {
		return w.reconcile(d)
	}
	return w.beyond(d)
}

func (w *waiting) waitsForDelete(a arc) bool { return a.kind == gone && w.manages[a.to] }

func (w *waiting) addReconcile(x int32, prerequisites []arc) {
	task := &w.tasks[w.reconcile(x)]
	for _, a := range prerequisites {
		*task = append(*task, w.reconcile(a.to))
		if w.waitsForDelete(a) {
			*task = append(*task, w.remove(a.to))
		}
	}
}

func (w *waiting) addDelete(x int32, downstream []arc) {
	remove, beyond := &w.tasks[w.remove(x)], &w.tasks[w.beyond(x)]
	for _, a := range downstream {
		if a.kind == gone {
			continue
		}
		if a.kind != loose || w.manages[a.to] {
			*remove = append(*remove, w.remove(a.to))
		}
		if a.kind == optional || a.bundled && a.kind != loose {
			*remove = append(*remove, w.users(a.to))
		}
		if a.kind != loose {
			*beyond = append(*beyond, w.users(a.to))
		}
	}
}

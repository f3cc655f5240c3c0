// SPDX-License-Identifier: Apache-2.0

package workflow

import (
	"cmp"
	"fmt"
	"slices"
)

// rollout is how an instance stands towards the bounds of its Repeat: MaxUnavailable and InOrder. An instance changes
// once a Do of it has been let through, and until all of its nodes have settled ready.
type rollout struct {
	wave     *wave // nil if nothing bounds it
	place    int   // in the wave
	left     int   // so many of its nodes haven't settled
	parked   int   // so many of its nodes wait to be let through
	unready  bool  // one of its nodes has settled, but isn't ready
	ailing   bool  // what stands of it isn't ready, and is to be changed
	changing bool
	held     bool // it wasn't let through in this run, and isn't ready for that reason
}

// wave is the instances of a Repeat that change in turns.
type wave struct {
	members        []*instance // in the order in which the keys were given
	maxUnavailable int
	inOrder        bool
	// How the members stand: kept up to date by change.
	open, unavailable int
	done              int // so many of the first members have settled, all ready
}

func (r *rollout) unavailable() bool { return r.unready || (r.changing || r.ailing) && r.left > 0 }

// isOpen reports whether it isn't known yet how the instance stands.
func (r *rollout) isOpen() bool { return r.left > 0 && r.parked == 0 && !r.unavailable() }

// change keeps the counts of the wave.
func (r *rollout) change(how func(r *rollout)) {
	if r.wave == nil {
		return
	}
	count := func(by int) {
		if r.isOpen() {
			r.wave.open += by
		}
		if r.unavailable() {
			r.wave.unavailable += by
		}
	}
	count(-1)
	how(r)
	count(+1)
}

// mayChange reports whether a node of the instance may be written now. If final, nothing else goes on, and what isn't
// known yet of other instances counts as well.
func (r *rollout) mayChange(final bool) bool {
	w := r.wave
	switch {
	case w == nil || r.changing:
		return true
	case w.inOrder && r.place > w.ready():
		return false
	case w.maxUnavailable == 0 || r.unready && !r.held || r.ailing:
		return true
	default:
		others := w.unavailable
		if r.unavailable() {
			others--
		}
		return (w.open == 0 || final) && others < w.maxUnavailable
	}
}

// ready returns how many of the first members have settled, all of them ready.
func (w *wave) ready() int {
	for w.done < len(w.members) && w.members[w.done].left == 0 && !w.members[w.done].unready {
		w.done++
	}
	return w.done
}

// newWave joins the instances of a Repeat under one instance around it.
func (p *repeat[P]) newWave(of []*instance) {
	w := &wave{maxUnavailable: p.maxUnavailable, inOrder: p.inOrder}
	for _, i := range of {
		if !i.vanished {
			w.members = append(w.members, i)
		}
	}
	slices.SortFunc(w.members, func(a, b *instance) int { return cmp.Compare(a.turn, b.turn) })
	for place, i := range w.members {
		i.wave, i.place = w, place
	}
}

// around calls do for each instance that v stands in and that changes in turns.
func (x *execution[P]) around(v int32, do func(r *rollout)) {
	for i := x.layout.vertices[v].instance; i != nil; i = i.outer {
		i.change(do)
	}
}

// joinWaves counts a vertex that is to settle.
func (x *execution[P]) joinWaves(v int32) {
	x.around(v, func(r *rollout) { r.left++ })
}

// leaveWaves is called when a vertex has settled that was counted.
func (x *execution[P]) leaveWaves(v int32) {
	x.around(v, func(r *rollout) {
		r.left--
		r.unready = r.unready || !x.marks[v].ready
	})
}

// park holds a flight back until the bounds of its Repeats let it through, and reports whether it must wait.
func (x *execution[P]) park(f *flight[P]) bool {
	v := f.vertex
	answer := f.step.ready.answer
	if (answer == unmet || answer == broken) && x.existsNow(v) != missing {
		x.around(v, func(r *rollout) { r.ailing = true })
	}
	if x.letThrough(v, false) {
		return false
	}
	x.around(v, func(r *rollout) { r.parked++ })
	x.parked = append(x.parked, f)
	return true
}

// letThrough reports whether v may be written, and if so counts its instances as changing, unless it is only created:
// that makes nothing unready that stands.
func (x *execution[P]) letThrough(v int32, final bool) bool {
	stands := x.existsNow(v) != missing
	for i := x.layout.vertices[v].instance; i != nil; i = i.outer {
		creates := !stands && i.wave != nil && !i.wave.inOrder
		if !creates && !i.mayChange(final) {
			return false
		}
	}
	if stands {
		x.around(v, func(r *rollout) { r.changing = true })
	}
	return true
}

// rollOut launches what the bounds let through by now, and reports whether there was anything.
func (x *execution[P]) rollOut(final bool) (progress bool) {
	for i := 0; i < len(x.parked) && x.busy() < x.runner.options.MaxConcurrent; {
		f := x.parked[i]
		if x.ctx.Err() == nil && !x.letThrough(f.vertex, final) {
			i++
			continue
		}
		x.unpark(i)
		progress = true
		if x.ctx.Err() != nil {
			x.cancelled(f.vertex)
			x.conclude(f.vertex)
		} else {
			x.launch(f)
		}
		if final {
			return true
		}
	}
	return progress
}

func (x *execution[P]) unpark(i int) {
	x.around(x.parked[i].vertex, func(r *rollout) { r.parked-- })
	x.parked = slices.Delete(x.parked, i, i+1)
}

// stopRollOut ends the wait of what won't be let through in this run, once nothing else goes on.
func (x *execution[P]) stopRollOut() bool {
	if len(x.parked) == 0 {
		return false
	}
	if x.rollOut(true) {
		return true
	}
	v := x.parked[0].vertex
	x.unpark(0)
	row := x.row(v)
	row.State, row.Reason = Waiting, "MaxUnavailable"
	row.Message = "it isn't changed while as many others as may be are unavailable"
	for i := x.layout.vertices[v].instance; i != nil; i = i.outer {
		if !i.mayChange(true) {
			i.held = true
		}
		if w := i.wave; w != nil && w.inOrder && i.place > w.ready() {
			row.Reason, row.Message = "InOrder", fmt.Sprintf("it waits until key %q is ready", w.members[w.done].key)
		}
	}
	x.conclude(v)
	return true
}

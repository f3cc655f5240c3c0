// SPDX-License-Identifier: Apache-2.0

package workflow_test

import (
	"slices"

	"github.com/espalier-dev/espalier/workflow"
)

// reference works out, slowly and one node after the other, what a run of a scenario must come to. It is written from
// the rules and their fine print, and shares nothing with the engine.
type reference struct {
	scenario
	nodes  map[string]*expected
	order  []string // of declaration
	before [][2]string
	left   map[string]bool // to the collector, if something else has decided that
}

// expected is what the rules say of one node.
type expected struct {
	actor
	plan       string // wanted, unwanted, inactive, failed, collected
	state      workflow.State
	causes     []string
	settled    bool
	called     bool // Reconcile or Delete was called
	reconciled bool
	gone       bool
	asked      []string
}

func work(s scenario) *reference {
	r := &reference{scenario: s, nodes: map[string]*expected{}}
	for _, a := range s.Nodes {
		r.nodes[a.Name] = &expected{actor: a}
		r.order = append(r.order, a.Name)
	}
	planned := map[string]bool{}
	for len(planned) < len(r.order) {
		for _, name := range r.order {
			n := r.nodes[name]
			if !planned[name] && !slices.ContainsFunc(n.DependsOn, func(p prerequisite) bool { return !planned[p.Node] }) {
				r.plan(n)
				planned[name] = true
			}
		}
	}
	r.run()
	return r
}

// run gives all nodes their turns, once they are planned.
func (r *reference) run() {
	for r.round() || r.untangle() {
		continue
	}
}

// round gives every node a turn that can have one, and reports whether one had.
func (r *reference) round() (progress bool) {
	for _, name := range r.order {
		if n := r.nodes[name]; !n.settled && r.turn(n) {
			n.settled, progress = true, true
		}
	}
	return progress
}

// untangle ends a wait in a circle: the first node that can't be reconciled in this run anyway is blocked by what is
// known to block it.
func (r *reference) untangle() bool {
	for _, name := range r.order {
		n := r.nodes[name]
		if n.settled || n.plan != "wanted" {
			continue
		}
		all := n.DependsOn
		n.DependsOn = slices.DeleteFunc(slices.Clone(all), func(p prerequisite) bool {
			waits := !r.vanishes(p) && (p.Edge != "gone" || r.nodes[p.Node].plan != "wanted")
			return waits && !r.nodes[p.Node].settled
		})
		n.settled = r.isBlocked(n)
		n.DependsOn = all
		if n.settled {
			return true
		}
	}
	return false
}

// isBlocked gives n a turn, and takes it back unless n was blocked, or failed, by its edges.
func (r *reference) isBlocked(n *expected) bool {
	before := *n
	n.HoldUntil, n.OnReconcile, n.ReadyWhen = "", "", ""
	r.turnReconcile(n)
	n.actor = before.actor
	if n.called {
		*n = before
		return false
	}
	return true
}

func (r *reference) manages(n *expected) bool { return n.Manages != "nothing" }

func (n *expected) ask(kind, answer string) string {
	if answer == "" {
		return "met"
	}
	n.asked = append(n.asked, kind)
	if answer == "panic" {
		return "unknown"
	}
	return answer
}

func required(edge string) bool {
	return edge == "" || edge == "applied" || edge == "where" || edge == "toCreate"
}

// plan is R2, R3, F1, F2 and F26 to F28.
func (r *reference) plan(n *expected) {
	if n.unlisted {
		n.plan, n.state = "failed", workflow.Failed
		return
	}
	activation := n.ask("activate", n.Activate)
	switch {
	case activation == "unknown":
		n.plan, n.state = "failed", workflow.Failed
	case activation == "unmet":
		n.plan, n.state = "inactive", workflow.Inactive
	case r.Mode == "cleanup":
		n.plan = "unwanted"
		if r.collected(n) {
			n.plan, n.state = "collected", workflow.Collected
		}
	default:
		r.planWanted(n)
	}
}

func (r *reference) planWanted(n *expected) {
	has := func(plan string) bool {
		return slices.ContainsFunc(n.DependsOn, func(p prerequisite) bool {
			return required(p.Edge) && !p.bundled && r.nodes[p.Node].plan == plan
		})
	}
	if has("unwanted") {
		n.plan = "unwanted"
		return
	}
	if has("inactive") {
		n.plan, n.state = "inactive", workflow.Inactive
		return
	}
	if n.vanished {
		n.plan = "unwanted"
		return
	}
	switch n.ask("reconcileWhen", n.ReconcileWhen) {
	case "unknown":
		n.plan, n.state = "failed", workflow.Failed
	case "unmet":
		n.plan = "unwanted"
	default:
		n.plan = "wanted"
	}
}

// collected is R17 and F27: by walking the node's part of the graph.
func (r *reference) collected(n *expected) bool {
	if r.left != nil {
		return r.left[n.Name]
	}
	part := []string{n.Name}
	for i := 0; i < len(part); i++ {
		at := r.nodes[part[i]]
		for _, other := range r.order {
			joined := slices.ContainsFunc(at.DependsOn, func(p prerequisite) bool { return p.Node == other && p.Edge != "gone" }) ||
				slices.ContainsFunc(r.nodes[other].DependsOn, func(p prerequisite) bool { return p.Node == at.Name && p.Edge != "gone" })
			if joined && !slices.Contains(part, other) {
				part = append(part, other)
			}
		}
	}
	return r.manages(n) && !slices.ContainsFunc(part, func(name string) bool {
		m := r.nodes[name]
		return r.manages(m) && (!m.Collectable || m.DeleteWhen != "" || m.DeletedWhen != "")
	})
}

// turn gives n its turn and reports whether it had one.
func (r *reference) turn(n *expected) bool {
	switch {
	case n.plan == "inactive" || n.plan == "failed" || n.plan == "collected":
		return true
	case n.plan == "unwanted" && !r.manages(n):
		n.state = workflow.Disabled
		if r.Mode == "cleanup" {
			n.state = workflow.Deleted
		}
		return true
	case n.plan == "unwanted":
		return r.turnDelete(n)
	default:
		return r.turnReconcile(n)
	}
}

// turnReconcile is R6 to R10 and F6 to F16.
func (r *reference) turnReconcile(n *expected) bool {
	var causes []string
	unknown := false
	for _, p := range n.DependsOn {
		x := r.nodes[p.Node]
		if r.vanishes(p) {
			continue
		}
		if p.Edge == "gone" && x.plan == "wanted" {
			causes = append(causes, x.Name)
			continue
		}
		if !x.settled {
			return false
		}
		if x.called && !x.head {
			r.before = append(r.before, [2]string{x.Name, n.Name})
		}
		switch {
		case r.satisfied(n, p):
		case p.Edge == "where" && x.state == workflow.Ready && (p.Predicate == "unknown" || p.Predicate == "panic"):
			unknown = true
		default:
			causes = append(causes, stands(x)...)
		}
	}
	switch {
	case unknown:
		n.state = workflow.Failed
	case causes != nil:
		n.state, n.causes = workflow.Blocked, r.declared(causes)
	default:
		r.reconcile(n)
	}
	return true
}

func (r *reference) vanishes(p prerequisite) bool {
	x := r.nodes[p.Node]
	away := x.plan == "inactive" || x.plan == "unwanted"
	if p.implied && p.Edge == "gone" {
		return x.plan != "failed"
	}
	return p.bundled && p.Edge != "gone" && away || (p.Edge == "optional" || p.Edge == "loose") && away || p.Edge == "gone" && x.plan == "inactive"
}

func (r *reference) satisfied(n *expected, p prerequisite) bool {
	x := r.nodes[p.Node]
	switch p.Edge {
	case "gone":
		return x.state == workflow.Disabled
	case "applied":
		return x.reconciled
	case "toCreate":
		return x.state == workflow.Ready || x.reconciled && n.exists()
	case "where":
		return x.state == workflow.Ready && p.Predicate == "met"
	default:
		return x.state == workflow.Ready
	}
}

func (n *expected) exists() bool { return n.Exists == nil || *n.Exists }

func (r *reference) reconcile(n *expected) {
	switch n.ask("holdUntil", n.HoldUntil) {
	case "unknown":
		n.state = workflow.Failed
		return
	case "unmet":
		n.state = workflow.Waiting
		return
	}
	n.called = true
	switch n.OnReconcile {
	case "notyet":
		n.state = workflow.Waiting
	case "error", "panic":
		n.state = workflow.Failed
	default:
		n.reconciled = true
		n.state = map[string]workflow.State{
			"met": workflow.Ready, "unmet": workflow.NotReady, "broken": workflow.Failed, "unknown": workflow.Failed,
		}[n.ask("readyWhen", n.ReadyWhen)]
	}
}

// turnDelete is R13, R14 and F17 to F23.
func (r *reference) turnDelete(n *expected) bool {
	var causes []string
	for _, name := range r.holders(n) {
		h := r.nodes[name]
		if !h.settled {
			return false
		}
		if !h.gone && !h.reconciled {
			causes = append(causes, stands(h)...)
		}
		if h.called {
			r.before = append(r.before, [2]string{h.Name, n.Name})
		}
	}
	if causes != nil {
		n.state, n.causes = workflow.Deleting, r.declared(causes)
		return true
	}
	switch n.ask("deleteWhen", n.DeleteWhen) {
	case "unknown":
		n.state = workflow.Failed
		return true
	case "unmet":
		n.state = workflow.Deleting
		return true
	}
	n.called = true
	n.state = workflow.Deleting
	switch n.OnDelete {
	case "pending":
		return true
	case "error", "panic":
		n.state = workflow.Failed
		return true
	}
	switch n.ask("deletedWhen", n.DeletedWhen) {
	case "unknown":
		n.state = workflow.Failed
	case "met":
		n.gone, n.state = true, workflow.Disabled
		if r.Mode == "cleanup" {
			n.state = workflow.Deleted
		}
	}
	return true
}

// holders are those that hold x: directly, or beyond nodes that one looks through.
func (r *reference) holders(x *expected) []string {
	var found []string
	seen := map[string]bool{}
	var look func(at *expected, beyond bool)
	look = func(at *expected, beyond bool) {
		for _, name := range r.order {
			d := r.nodes[name]
			for _, p := range d.DependsOn {
				if p.Node != at.Name || p.Edge == "gone" {
					continue
				}
				through := d.plan == "inactive" || !r.manages(d)
				if p.Edge == "loose" && r.Mode != "cleanup" && (beyond || through) {
					continue
				}
				if through {
					if !seen[name] {
						seen[name] = true
						look(d, true)
					}
					continue
				}
				if r.holds(d, p, beyond) && !slices.Contains(found, name) {
					found = append(found, name)
				}
			}
		}
	}
	look(x, false)
	return found
}

func (r *reference) holds(d *expected, p prerequisite, beyond bool) bool {
	switch d.plan {
	case "unwanted":
		return true
	case "failed":
		return p.Edge != "loose" || r.Mode == "cleanup"
	case "wanted":
		return d.exists() && (p.Edge == "optional" || beyond || p.bundled && p.Edge != "loose")
	}
	return false
}

// stands returns what stands for a node as a cause: F13, F20.
func stands(x *expected) []string {
	if x.causes != nil {
		return x.causes
	}
	return []string{x.Name}
}

// declared sorts names by declaration, each once.
func (r *reference) declared(names []string) (sorted []string) {
	for _, name := range r.order {
		if slices.Contains(names, name) {
			sorted = append(sorted, name)
		}
	}
	return sorted
}

// expectation is everything that must come of the run.
func (r *reference) expectation() expectation {
	e := expectation{
		States: map[string]workflow.State{}, BlockedBy: map[string][]string{}, Evaluated: map[string][]string{},
		Reconciled: []string{}, Deleted: []string{},
	}
	for _, pair := range r.before {
		if n := r.nodes[pair[1]]; n.called && !n.head {
			e.Before = append(e.Before, pair)
		}
	}
	ready, complete := true, true
	for _, name := range r.order {
		n := r.nodes[name]
		e.States[name] = n.state
		if n.causes != nil {
			e.BlockedBy[name] = n.causes[:min(len(n.causes), 8)]
		}
		if n.called && n.plan == "wanted" && !n.head {
			e.Reconciled = append(e.Reconciled, name)
		}
		if n.called && n.plan == "unwanted" {
			e.Deleted = append(e.Deleted, name)
		}
		for _, kind := range n.asked {
			e.Evaluated[kind] = append(e.Evaluated[kind], name)
		}
		ready = ready && (n.state == workflow.Ready || n.state == workflow.Inactive || n.state == workflow.Disabled)
		complete = complete && (n.state == workflow.Deleted || n.state == workflow.Inactive || n.state == workflow.Collected)
	}
	slices.Sort(e.Reconciled)
	slices.Sort(e.Deleted)
	for _, names := range e.Evaluated {
		slices.Sort(names)
	}
	if r.Mode == "cleanup" {
		e.Complete = &complete
	} else {
		e.Ready = &ready
	}
	return e
}

// SPDX-License-Identifier: Apache-2.0

package workflow

import (
	"cmp"
	"errors"
	"time"
)

// State is where a node stands at the end of a run.
type State string

// The states of a node.
const (
	// Ready: reconciled, and ready.
	Ready State = "Ready"
	// NotReady: reconciled, but not ready yet.
	NotReady State = "NotReady"
	// Waiting: its own gate is unmet, or it can't be written yet. Nothing was written.
	Waiting State = "Waiting"
	// Blocked: a prerequisite isn't satisfied. It wasn't touched.
	Blocked State = "Blocked"
	// Failed: an error, a panic, a timeout or broken readiness of this node.
	Failed State = "Failed"
	// Inactive: its activation, or a required prerequisite's, is unmet. It was left alone.
	Inactive State = "Inactive"
	// Disabled: not wanted, and gone.
	Disabled State = "Disabled"
	// Deleting: it should go and isn't gone yet.
	Deleting State = "Deleting"
	// Deleted: gone, in a cleanup.
	Deleted State = "Deleted"
	// Collected: left to the garbage collector, in a cleanup.
	Collected State = "Collected"
	// Unplanned: in a dry run, what it depends on would change, so that nobody can tell what it would do.
	Unplanned State = "Unplanned"
)

// NodeResult is what a run did with one node, or with one instance of a repeated node.
type NodeResult struct {
	Name string
	// Key is that of the instance of a node in a [Repeat]: see [Run.Key].
	Key   string
	State State
	// Reason is one UpperCamelCase word, and Message a sentence for people. Both may be empty.
	Reason, Message string
	Operation       Operation
	// Diff is what a write would change, in a dry run.
	Diff string
	// Drift says what somebody else has changed of what the node manages: which fields, and who. If the Operation is
	// an Update it has been corrected; else it was left as it is.
	Drift string
	// BlockedBy names the root causes for which a Blocked or Deleting node waits, at most eight, in declaration order.
	// MoreCauses says that there are others.
	BlockedBy  []string
	MoreCauses bool
	// Verdicts is what its conditions have answered, in the order in which they were asked. Those that weren't asked,
	// since something before them decided, aren't there.
	Verdicts []Answer
	// Err is the error of a Failed node.
	Err error
	// Duration is how long the node's Do took; 0 if it had nothing to do.
	Duration time.Duration
	// Attempts counts the executions of a Failed node that failed one after the other.
	Attempts int
	// RetryAfter is when a Failed node is tried again; 0 means not before something has changed.
	RetryAfter time.Duration
	// Recheck is after how long a condition wants to be asked again; 0 means not by time.
	Recheck time.Duration
	// Poll is after how long its Resource wants to look again, for what no watch announces; 0 means not by time.
	Poll time.Duration
}

// Wake is what brings the run that may change a node's state.
type Wake string

// What wakes a node.
const (
	// WakeWatch: something that is watched changes, above all the node's own dependent.
	WakeWatch Wake = "watch"
	// WakeRecheck: time passes, after which a failed node is tried again, or a condition asked again.
	WakeRecheck Wake = "recheck"
	// WakePoll: time passes, after which its Resource looks again.
	WakePoll Wake = "poll"
	// WakeInput: what it was given changes, which is the primary or what it waits for.
	WakeInput Wake = "input"
)

// Wake returns what may change the node's state first, as far as the run can tell. Whatever it says, a change of the
// primary brings a run.
func (n *NodeResult) Wake() Wake {
	switch {
	case n.RetryAfter > 0 || n.Recheck > 0 && (n.Poll == 0 || n.Recheck <= n.Poll):
		return WakeRecheck
	case n.Poll > 0:
		return WakePoll
	case n.State == Blocked, n.State == Failed, n.State == Unplanned, n.State == Deleting && len(n.BlockedBy) > 0:
		return WakeInput
	default:
		return WakeWatch
	}
}

// Title is the name of the node, with the key of its instance in brackets: what BlockedBy calls it.
func (n *NodeResult) Title() string {
	if n.Key == "" {
		return n.Name
	}
	return n.Name + "[" + n.Key + "]"
}

// Result is what one run did. It belongs to the caller.
type Result struct {
	// Nodes has a row per node, in declaration order; of a repeated node one per instance, by key.
	Nodes []NodeResult
	// Cleanup says that the run deleted: it was started by [Runner.Cleanup].
	Cleanup bool
	// Invalid is why the primary was refused by a check of Validate; nothing was touched then.
	Invalid error
	graph   *Picture
}

// Ready reports whether everything is as wanted: each node Ready, Inactive or Disabled.
func (r *Result) Ready() bool { return r.Invalid == nil && r.all(Ready, Inactive, Disabled) }

// Complete reports whether nothing is left that a cleanup has to remove: each node Deleted, Collected or Inactive.
func (r *Result) Complete() bool { return r.all(Deleted, Collected, Inactive) }

func (r *Result) all(a, b, c State) bool {
	for i := range r.Nodes {
		if s := r.Nodes[i].State; s != a && s != b && s != c {
			return false
		}
	}
	return true
}

// Err joins why the primary is invalid and the failures of all nodes in declaration order, each wrapped in a
// [NodeError]; nil if there are none.
func (r *Result) Err() error {
	errs := []error{r.Invalid}
	for i := range r.Nodes {
		if n := &r.Nodes[i]; n.Err != nil {
			errs = append(errs, &NodeError{Node: n.Title(), Err: n.Err})
		}
	}
	return errors.Join(errs...)
}

// RequeueAfter returns after how long another run is wanted though no watch announces it; 0 means not by time.
func (r *Result) RequeueAfter() time.Duration {
	after := time.Duration(0)
	for i := range r.Nodes {
		n := &r.Nodes[i]
		after = soonest(after, soonest(n.Poll, soonest(n.RetryAfter, n.Recheck)))
	}
	return after
}

// Node returns the row of the named node; its zero value if there is none. Of a node in a [Repeat] it takes the key
// too; of one in a Repeat within another the keys of both, the outer one's first.
func (r *Result) Node(name string, keys ...string) NodeResult {
	key := ""
	if len(keys) > 0 {
		key = joined(keys)
	}
	for i := range r.Nodes {
		if r.Nodes[i].Name == name && r.Nodes[i].Key == key {
			return r.Nodes[i]
		}
	}
	return NodeResult{}
}

// Picture returns the graph with the states of this run, every instance of a repeated node by itself.
func (r *Result) Picture() *Picture { return r.graph.with(r.Nodes) }

// Folded returns a row for each node outside of groups and Repeats, and one for each of those, named like it: with the
// state of its node that needs a look most, and what that says. It is for displays that have little room.
func (r *Result) Folded() []NodeResult { return r.Picture().Folded().rows }

// fail fills in a failure.
func (n *NodeResult) fail(reason string, err error) {
	n.State, n.Reason, n.Err = Failed, reason, err
	if given, ok := errors.AsType[*reasonError](err); ok {
		n.Reason = given.reason
	}
	n.Message = err.Error()
}

// judged fills in what a condition has answered that isn't met.
func (n *NodeResult) judged(state State, v Verdict) {
	n.State, n.Reason, n.Message = state, v.reason, v.message
	n.Recheck = soonest(n.Recheck, v.recheck)
}

// soonest is the smaller of two delays, of which 0 means never.
func soonest(a, b time.Duration) time.Duration {
	if a == 0 || b == 0 {
		return cmp.Or(a, b)
	}
	return min(a, b)
}

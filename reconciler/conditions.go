// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/espalier-dev/espalier/workflow"
)

// The conditions that are written, as kstatus reads them.
const (
	conditionReady       = "Ready"
	conditionReconciling = "Reconciling"
	conditionStalled     = "Stalled"
)

// Limits of what is written.
const (
	maxMessage = 32 * 1024
	maxCauses  = 8
	maxRows    = 64
)

// conditionsOf says what a result means: Ready; Stalled if a node has failed for good; Reconciling if neither. The root
// cause is named first.
func conditionsOf(result *workflow.Result, generation int64) []metav1.Condition {
	ready, stalled := result.Ready() && !result.Cleanup, false
	causes := rootCauses(result)
	reason, message := "Succeeded", "all nodes are ready"
	if !ready {
		reason, message = "Progressing", "nothing is left to do"
		if len(causes) > 0 {
			reason, message = reasonOf(causes[0]), describe(causes)
		}
		stalled = slices.ContainsFunc(causes, isStalled)
	}
	switch {
	case result.Invalid != nil && !workflow.IsTerminal(result.Invalid):
		reason, message = workflow.ReasonUnchecked, result.Invalid.Error()
	case result.Invalid != nil:
		reason, message, stalled = workflow.ReasonInvalidSpec, result.Invalid.Error(), true
	case result.Cleanup:
		reason = "Deleting"
	}
	condition := func(kind string, is bool) metav1.Condition {
		c := metav1.Condition{
			Type: kind, Status: metav1.ConditionFalse, ObservedGeneration: generation,
			Reason: legal(reason), Message: shortened(message, maxMessage),
		}
		if is {
			c.Status = metav1.ConditionTrue
		}
		return c
	}
	return []metav1.Condition{
		condition(conditionReady, ready),
		condition(conditionReconciling, !ready && !stalled),
		condition(conditionStalled, stalled),
	}
}

// rootCauses returns the rows for which the result isn't as wanted, but for those that only wait for others of them;
// failures come first, otherwise the order is that of declaration.
func rootCauses(result *workflow.Result) []*workflow.NodeResult {
	var causes []*workflow.NodeResult
	unfinished := map[string]bool{}
	for i := range result.Nodes {
		unfinished[result.Nodes[i].Title()] = !isFinished(&result.Nodes[i])
	}
	for i := range result.Nodes {
		n := &result.Nodes[i]
		if isFinished(n) {
			continue
		}
		if !slices.ContainsFunc(n.BlockedBy, func(name string) bool { return unfinished[name] }) {
			causes = append(causes, n)
		}
	}
	slices.SortStableFunc(causes, func(a, b *workflow.NodeResult) int { return cmp.Compare(severity(a), severity(b)) })
	return causes
}

func isFinished(n *workflow.NodeResult) bool {
	switch n.State {
	case workflow.Ready, workflow.Disabled, workflow.Inactive, workflow.Deleted, workflow.Collected:
		return true
	default:
		return false
	}
}

// onlyCancelled reports whether a run ended before it came to anything that isn't as wanted.
func onlyCancelled(result *workflow.Result) bool {
	cancelled := false
	for _, n := range rootCauses(result) {
		if n.Reason != "Cancelled" {
			return false
		}
		cancelled = true
	}
	return cancelled
}

func severity(n *workflow.NodeResult) int {
	switch {
	case isStalled(n):
		return 0
	case n.State == workflow.Failed:
		return 1
	default:
		return 2
	}
}

// isStalled reports whether a node has failed for good: trying again as it is can't help, as far as one can tell.
func isStalled(n *workflow.NodeResult) bool {
	if n.State != workflow.Failed {
		return false
	}
	switch n.Reason {
	case "NotOwned", "ClaimedBy", "Conflict", "Immutable", "Invalid", "Protected", "Contested", "Unstable":
		return true
	}
	return workflow.IsTerminal(n.Err)
}

func reasonOf(n *workflow.NodeResult) string { return cmp.Or(n.Reason, string(n.State)) }

func describe(causes []*workflow.NodeResult) string {
	parts := make([]string, 0, maxCauses+1)
	for i, n := range causes {
		if i == maxCauses {
			parts = append(parts, fmt.Sprintf("and %d more", len(causes)-maxCauses))
			break
		}
		why := cmp.Or(n.Message, reasonOf(n))
		if len(n.BlockedBy) > 0 {
			why += ", of " + strings.Join(n.BlockedBy, ", ")
		}
		parts = append(parts, n.Title()+": "+why)
	}
	return strings.Join(parts, "; ")
}

// legal turns any text into a reason that the schema of conditions takes: a letter, then letters, digits and _.
func legal(reason string) string {
	var out strings.Builder
	upper := true
	for _, c := range reason {
		switch {
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z', out.Len() > 0 && (c == '_' || c >= '0' && c <= '9'):
			if upper {
				c = rune(strings.ToUpper(string(c))[0])
			}
			upper = false
			out.WriteRune(c)
		default:
			upper = true
		}
	}
	text := out.String()
	return cmp.Or(text[:min(len(text), 1024)], "Unknown")
}

func shortened(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	cut := limit - len("…")
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + "…"
}

// said is what a row says beside its state. A drift that was corrected is over; one that was left is said as long as it
// lasts.
func said(n *workflow.NodeResult) (reason, message string) {
	switch {
	case len(n.BlockedBy) > 0:
		return n.Reason, "waits for " + strings.Join(n.BlockedBy, ", ")
	case n.Drift != "" && n.Operation == workflow.None && n.Reason == "":
		return "Drifted", "left as others have set it: " + n.Drift
	default:
		return n.Reason, n.Message
	}
}

// rowsOf is a bounded table of the nodes, sorted by name.
func rowsOf(result *workflow.Result) []any {
	rows := make([]any, 0, len(result.Nodes))
	for i := range result.Nodes {
		n := &result.Nodes[i]
		row := map[string]any{"name": n.Title(), "state": string(n.State)}
		reason, message := said(n)
		if reason != "" {
			row["reason"] = legal(reason)
		}
		if message != "" {
			row["message"] = shortened(message, 1024)
		}
		rows = append(rows, row)
	}
	slices.SortFunc(rows, func(a, b any) int {
		return strings.Compare(a.(map[string]any)["name"].(string), b.(map[string]any)["name"].(string))
	})
	return rows[:min(len(rows), maxRows)]
}

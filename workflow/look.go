// SPDX-License-Identifier: Apache-2.0

package workflow

// look is how a state is shown: a sign, an ANSI colour, and a fill for graphs.
type look struct{ sign, color, fill string }

func lookOf(s State) look {
	switch s {
	case Ready:
		return look{"✔", "32", "#c8e6c9"}
	case NotReady:
		return look{"◐", "33", "#fff3c4"}
	case Waiting:
		return look{"◷", "33", "#fff3c4"}
	case Blocked:
		return look{"·", "2", "#eceff1"}
	case Failed:
		return look{"✘", "31", "#ffcdd2"}
	case Deleting:
		return look{"◌", "35", "#e1bee7"}
	case Inactive, Disabled, Deleted, Collected:
		return look{"○", "2", "#ffffff"}
	default:
		return look{"?", "0", "#ffffff"}
	}
}

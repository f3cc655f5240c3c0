// SPDX-License-Identifier: Apache-2.0

package workflow

import (
	"fmt"
	"time"
)

type answer uint8

// The zero answer is unknown, so that a forgotten one deletes nothing.
const (
	unknown answer = iota
	met
	unmet
	broken
)

// Verdict is what a condition answers: met, unmet for a reason, broken for good, or unknown because of an error. The
// zero Verdict is unknown.
type Verdict struct {
	answer  answer
	reason  string
	message string
	err     error
	recheck time.Duration
}

// Met says yes.
func Met() Verdict { return Verdict{answer: met} }

// Unmet says no, and why. The reason is one UpperCamelCase word, for conditions and metrics; the message is for people.
func Unmet(reason, format string, args ...any) Verdict {
	return Verdict{answer: unmet, reason: reason, message: text(format, args)}
}

// Broken says that what was asked for will never come true by itself: a node whose readiness is broken has failed for
// good. It is an answer about readiness only; any other condition that gives it is unknown.
func Broken(reason, format string, args ...any) Verdict {
	return Verdict{answer: broken, reason: reason, message: text(format, args)}
}

// Unknown says that the question could not be answered. Nothing is ever deleted on an unknown.
func Unknown(err error) Verdict { return Verdict{answer: unknown, err: err} }

// If is [Met] if ok, and [Unmet] for the given reason otherwise.
func If(ok bool, reason, format string, args ...any) Verdict {
	if ok {
		return Met()
	}
	return Unmet(reason, format, args...)
}

// All is met if every verdict is. Otherwise it is the first unknown, else the first broken, else the first unmet one,
// and is to be asked again as soon as any that isn't met wants to be.
func All(verdicts ...Verdict) Verdict {
	all := Met()
	for _, v := range verdicts {
		all = all.and(v)
	}
	return all
}

func (v Verdict) and(other Verdict) Verdict {
	recheck := v.recheck
	if other.answer != met {
		recheck = soonest(recheck, other.recheck)
	}
	if other.badness() > v.badness() {
		v = other
	}
	v.recheck = recheck
	return v
}

// Recheck asks for another run after d if the verdict isn't met, for what no watch announces.
func (v Verdict) Recheck(d time.Duration) Verdict {
	v.recheck = d
	return v
}

// Holds reports whether the verdict is met.
func (v Verdict) Holds() bool { return v.answer == met }

// IsBroken reports whether the verdict is no, and will stay so.
func (v Verdict) IsBroken() bool { return v.answer == broken }

// Err returns the error of an unknown verdict, and nil of any other.
func (v Verdict) Err() error {
	if v.answer != unknown {
		return nil
	}
	if v.err == nil {
		return errNoAnswer
	}
	return v.err
}

// String returns the verdict as a word, with its reason and message.
func (v Verdict) String() string {
	switch v.answer {
	case met:
		return "met"
	case unmet:
		return fmt.Sprintf("unmet: %s: %s", v.reason, v.message)
	case broken:
		return fmt.Sprintf("broken: %s: %s", v.reason, v.message)
	default:
		return fmt.Sprintf("unknown: %v", v.Err())
	}
}

// badness ranks met, unmet, broken, unknown.
func (v Verdict) badness() int {
	switch v.answer {
	case met:
		return 0
	case unmet:
		return 1
	case broken:
		return 2
	default:
		return 3
	}
}

// text spares the formatting of a message that has no arguments, so that a percent sign in it is just that.
func text(format string, args []any) string {
	if len(args) == 0 {
		return format
	}
	return fmt.Sprintf(format, args...)
}

// SPDX-License-Identifier: Apache-2.0

package workflow

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

var errNoKeys = errors.New(
	"it is repeated, but can't list the keys that exist, so that none could be torn down: give its Resource a method Keys")

var errLate = errors.New("it was declared or refined after Build: do so before, since what runs never changes")

var errNotJudged = errors.New(
	"its kind doesn't say whether it is ready: set Ready of the Step or the Outcome, or declare a ReadyWhen")

var errExited = errors.New(
	"its function ended its goroutine instead of returning: it called runtime.Goexit, or FailNow of a test")

var errNoAnswer = errors.New("the condition gave no answer: return workflow.Met, Unmet or Unknown")

// Mistake is a kind of mistake that [Builder.Build] refuses.
type Mistake string

// The mistakes that Build reports.
const (
	CleanupPrerequisite Mistake = "cleanup-prerequisite"
	Cycle               Mistake = "cycle"
	Duplicate           Mistake = "duplicate"
	GoneCycle           Mistake = "gone-cycle"
	InvalidName         Mistake = "invalid-name"
	SelfDependence      Mistake = "self"
	UnknownPrerequisite Mistake = "unknown-prerequisite"
)

// BuildError is one mistake in a graph. Build joins all that it finds; errors.As finds the first.
type BuildError struct {
	Mistake Mistake
	// Node is the name of the node that has the mistake; of a cycle, its first declared node.
	Node string
	// Path holds the names along a cycle, its first node at both ends.
	Path   []string
	advice string
}

// Error names the mistake, where it is, and what to do about it.
func (e *BuildError) Error() string {
	if e.Path != nil {
		return fmt.Sprintf("%s: %s", strings.Join(e.Path, " → "), e.advice)
	}
	return fmt.Sprintf("node %q: %s", e.Node, e.advice)
}

// NodeError is the failure of one node in a run.
type NodeError struct {
	Node string
	Err  error
}

// Error returns the cause behind the node's name.
func (e *NodeError) Error() string { return fmt.Sprintf("node %q: %v", e.Node, e.Err) }

// Unwrap returns the cause.
func (e *NodeError) Unwrap() error { return e.Err }

// NotYet is what a [Resource] answers as its error if it can't act for now, for a reason that isn't a failure: the node
// is Waiting.
func NotYet(reason, format string, args ...any) error {
	return &notYetError{reason: reason, message: text(format, args)}
}

type notYetError struct{ reason, message string }

func (e *notYetError) Error() string { return e.message }

// Terminal marks an error that trying again can't cure: the node isn't tried again before what it wants, or the
// primary's revision, has changed. Terminal(nil) is nil.
func Terminal(err error) error {
	if err == nil {
		return nil
	}
	return &terminalError{err}
}

type terminalError struct{ error }

func (e *terminalError) Unwrap() error { return e.error }

// IsTerminal reports whether err, or an error that it wraps, is [Terminal].
func IsTerminal(err error) bool {
	_, ok := errors.AsType[*terminalError](err)
	return ok
}

// Because gives an error the reason that the node's row shows, one UpperCamelCase word. Because(reason, nil) is nil.
func Because(reason string, err error) error {
	if err == nil {
		return nil
	}
	return &reasonError{error: err, reason: reason}
}

type reasonError struct {
	error
	reason string
}

func (e *reasonError) Unwrap() error { return e.error }

// RetryAfter says when a failed node should be tried again, instead of its backoff. RetryAfter(nil, d) is nil.
func RetryAfter(err error, d time.Duration) error {
	if err == nil {
		return nil
	}
	return &retryError{error: err, after: d}
}

type retryError struct {
	error
	after time.Duration
}

func (e *retryError) Unwrap() error { return e.error }

// panicError is a panic of author code, as the failure of its node.
type panicError struct {
	value any
	stack []byte
}

func (e *panicError) Error() string { return fmt.Sprintf("panic: %v", e.value) }

// misuse is what a read panics with that the graph doesn't allow. It is recovered as a terminal failure of the reader.
type misuse string

func (m misuse) Error() string { return string(m) }

// caught turns a recovered panic into the error of the node that panicked.
func caught(value any, stack []byte) error {
	if m, ok := value.(misuse); ok {
		return Terminal(Because("UndeclaredRead", m))
	}
	return Because("Panic", &panicError{value: value, stack: stack})
}

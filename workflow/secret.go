// SPDX-License-Identifier: Apache-2.0

package workflow

import "errors"

// hidden stands for what might quote a secret.
const hidden = "it is hidden, since the value is secret"

// Computed is the handle of a computed value: see [Value].
type Computed[P, V any] struct {
	Base[P, V, *Computed[P, V]]
}

// Secret keeps the value, and everything that may quote it, out of results, pictures and observers: the node's errors
// and panics, and the messages of its conditions and of the predicates of edges to it, keep their reasons only. What
// other nodes make of the value is theirs to hide.
func (c *Computed[P, V]) Secret() *Computed[P, V] {
	c.refined().secret = true
	return c
}

// veiled hides the text of an error of a secret node, and keeps what it means.
func (n *node[P]) veiled(err error) error {
	if _, mistake := errors.AsType[misuse](err); !n.secret || mistake {
		return err
	}
	if wait, ok := errors.AsType[*notYetError](err); ok {
		return NotYet(wait.reason, hidden)
	}
	return &veiledError{err}
}

// veil hides the message of a verdict about a secret node's value.
func (n *node[P]) veil(v Verdict) Verdict {
	if !n.secret || v.answer == met {
		return v
	}
	v.message = hidden
	if v.answer == unknown {
		v.message, v.err = "", n.veiled(v.Err())
	}
	return v
}

// veiledError lets errors.As find what an error wraps, but doesn't say it.
type veiledError struct{ error }

func (*veiledError) Error() string { return hidden }

func (e *veiledError) Unwrap() error { return e.error }

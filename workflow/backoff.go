// SPDX-License-Identifier: Apache-2.0

package workflow

import "time"

// Backoff says how the retries of a failed node are spaced: each delay is twice the one before, with jitter over its
// upper half. The zero value retries after a second, later after five minutes at most, and never gives up.
type Backoff struct {
	// First is the first delay; default a second.
	First time.Duration
	// Last is the longest delay; default five minutes.
	Last time.Duration
	// Limit is how many executions may fail, one after the other, until the node has failed for good; default no limit.
	Limit int
}

// delay is what to wait after so many failed attempts; jitter is in [0, 1).
func (b Backoff) delay(attempts int, jitter float64) time.Duration {
	delay, last := b.First, b.Last
	if delay <= 0 {
		delay = time.Second
	}
	if last <= 0 {
		last = 5 * time.Minute
	}
	for range attempts - 1 {
		if delay >= last {
			break
		}
		delay *= 2
	}
	delay = min(delay, last)
	return delay/2 + time.Duration(jitter*float64(delay/2))
}

// exhausted reports whether so many failed attempts were too many.
func (b Backoff) exhausted(attempts int) bool { return b.Limit > 0 && attempts >= b.Limit }

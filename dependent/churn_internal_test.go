// SPDX-License-Identifier: Apache-2.0

package dependent

import (
	"strings"
	"testing"
	"time"
)

// The fifth write within two minutes is the last for a while; each that follows it makes the wait longer, quiet ends
// it.
func TestChurn(t *testing.T) { // R42
	var c churn
	at := time.Now()
	writes := func(intent uint64) {
		t.Helper()
		if err := c.objection(1, 7, at, "it"); err != nil {
			t.Fatalf("held back: %v", err)
		}
		c.note(1, 7, effect{at: at, intent: intent, drift: "spec.x of \"other\""})
	}
	waits := func(reason string, want time.Duration) {
		t.Helper()
		err := c.objection(1, 7, at, "it")
		if err == nil || !strings.Contains(err.Error(), reason) {
			t.Fatalf("got %v, want %q in it", err, reason)
		}
		if got := c.until.Sub(at); got != want {
			t.Errorf("it waits for %v, want %v", got, want)
		}
		if c.objection(2, 7, at, "it") != nil || c.objection(1, 8, at, "it") != nil {
			t.Error("what it is written from has changed, but it has to wait")
		}
		at = c.until
	}
	for range 5 {
		at = at.Add(20 * time.Second)
		writes(1)
	}
	for _, want := range []time.Duration{10 * time.Second, 20 * time.Second, 40 * time.Second} {
		waits(`others change spec.x of "other"`, want)
		writes(1)
	}
	at = at.Add(c.delay + churnWindow)
	writes(1)
	if len(c.writes) != 1 || c.delay != 0 {
		t.Errorf("after a quiet time there is %+v", c)
	}
	for i := range 4 {
		writes(uint64(i + 2))
	}
	waits("the desired state differs each time", 10*time.Second)
}

// Few writes, or as many over a long time, are no churn.
func TestNoChurn(t *testing.T) { // R42
	var c churn
	at := time.Now()
	for range 100 {
		at = at.Add(churnWindow/4 + time.Second)
		c.note(1, 0, effect{at: at})
		if err := c.objection(1, 0, at, "it"); err != nil {
			t.Fatal(err)
		}
	}
}

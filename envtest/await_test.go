// SPDX-License-Identifier: Apache-2.0

package envtest

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestAwaitEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		notYet, begin := errors.New("not yet"), time.Now()
		err := await(t.Context(), "a thing", func(context.Context) error {
			if time.Since(begin) < time.Second {
				return notYet
			}
			return nil
		})
		if got := time.Since(begin); err != nil || got != time.Second {
			t.Errorf("await() = %v after %s, want success after 1s", err, got)
		}

		err = await(t.Context(), "a thing", func(context.Context) error { return notYet })
		want := "waiting for a thing: gave up after 1m30s: not yet"
		if !errors.Is(err, notYet) || err.Error() != want {
			t.Errorf("await() = %v, want %q", err, want)
		}

		cause := errors.New("the cause")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(cause) })
		err = await(ctx, "a thing", func(context.Context) error { return notYet })
		if !errors.Is(err, cause) {
			t.Errorf("await() with an ended context = %v, want %v", err, cause)
		}
	})
}

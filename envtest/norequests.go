// SPDX-License-Identifier: Apache-2.0

package envtest

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// ExpectNoRequests waits for the window's length and returns an error that lists every request which was sent in it.
// It doesn't count [Request.Background]: watches, whose connections stay open and which are renewed every few
// minutes, and leases of leader election. A list does count, also one by which an informer starts anew. When ctx
// ends before the window it returns an error, as nothing is proved then.
//
//	Expect(envtest.ExpectNoRequests(ctx, &requests, time.Second)).To(Succeed())
func ExpectNoRequests(ctx context.Context, requests *Requests, window time.Duration) error {
	mark, begin := requests.Mark(), time.Now()
	timer := time.NewTimer(window)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return fmt.Errorf("watching for requests for %s: %w", window, context.Cause(ctx))
	case <-timer.C:
	}
	seen := requests.Since(mark).Foreground()
	if len(seen) == 0 {
		return nil
	}
	var list strings.Builder
	for _, q := range seen {
		fmt.Fprintf(&list, "\n\t+%s %s (%s %s)", q.Time.Sub(begin).Round(time.Millisecond), q, q.Method, q.Path)
	}
	return fmt.Errorf("got %d requests within %s, want none:%s", len(seen), window, &list)
}

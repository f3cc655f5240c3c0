// SPDX-License-Identifier: Apache-2.0

package envtest

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/rest"
)

// Requests records what clients send to an API server. It sits between client and connection, so it sees every
// attempt, retries included, and nothing that a cache answers. The zero value is ready; it may be used concurrently.
type Requests struct {
	mu  sync.Mutex
	log RequestLog
}

// Wrap returns a copy of cfg whose clients are recorded. Several configurations may share one record.
func (r *Requests) Wrap(cfg *rest.Config) *rest.Config {
	cfg = rest.CopyConfig(cfg)
	cfg.Wrap(func(next http.RoundTripper) http.RoundTripper { return &recorder{requests: r, next: next} })
	return cfg
}

// Mark is the present position, for [Requests.Since].
func (r *Requests) Mark() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.log)
}

// Since returns the requests that were sent after the mark was taken, in their order; all of them since zero.
func (r *Requests) Since(mark int) RequestLog {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.log[min(max(mark, 0), len(r.log)):])
}

// add records a request.
func (r *Requests) add(q Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.log = append(r.log, q)
}

// recorder is the place on the wire.
type recorder struct {
	requests *Requests
	next     http.RoundTripper
}

var _ utilnet.RoundTripperWrapper = (*recorder)(nil)

// RoundTrip records the request and sends it.
func (t *recorder) RoundTrip(r *http.Request) (*http.Response, error) {
	t.requests.add(newRequest(r, time.Now()))
	return t.next.RoundTrip(r)
}

// WrappedRoundTripper lets client-go find the connection's settings.
func (t *recorder) WrappedRoundTripper() http.RoundTripper { return t.next }

// RequestLog is a sequence of requests.
type RequestLog []Request

// Where returns the requests that satisfy keep, such as [Request.Write].
func (l RequestLog) Where(keep func(Request) bool) RequestLog {
	var kept RequestLog
	for _, q := range l {
		if keep(q) {
			kept = append(kept, q)
		}
	}
	return kept
}

// Foreground returns the requests that aren't [Request.Background].
func (l RequestLog) Foreground() RequestLog {
	return l.Where(func(q Request) bool { return !q.Background() })
}

// Counts is the number of requests by [Request.Operation].
func (l RequestLog) Counts() map[string]int {
	counts := map[string]int{}
	for _, q := range l {
		counts[q.Operation()]++
	}
	return counts
}

// String is a table of [RequestLog.Counts], one line per operation, sorted; without a line break at its end.
func (l RequestLog) String() string {
	counts := l.Counts()
	lines := make([]string, 0, len(counts))
	for _, operation := range slices.Sorted(maps.Keys(counts)) {
		lines = append(lines, fmt.Sprintf("%6d  %s", counts[operation], operation))
	}
	return strings.Join(lines, "\n")
}

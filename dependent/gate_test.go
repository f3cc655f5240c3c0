// SPDX-License-Identifier: Apache-2.0

package dependent_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
)

// gate keeps a cache from learning anything while it is shut: it holds back what watches deliver. It may also lose the
// answer to a write, and let something happen before a read.
type gate struct {
	mutex  sync.Mutex
	open   chan struct{} // closed while the gate is open
	loses  atomic.Bool   // the answer to the next patch
	losses atomic.Int32

	refuses   atomic.Bool            // to read anything
	misleads  atomic.Bool            // a proxy knows no path
	beforeGet atomic.Pointer[func()] // the next one
	// fault answers writes in the server's place, if it wants to.
	fault atomic.Pointer[func(req *http.Request, next http.RoundTripper) (*http.Response, error)]
}

func newGate() *gate {
	g := &gate{open: make(chan struct{})}
	close(g.open)
	return g
}

func (g *gate) shut() {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	g.open = make(chan struct{})
}

func (g *gate) reopen() {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	close(g.open)
}

func (g *gate) pass(ctx context.Context) {
	g.mutex.Lock()
	open := g.open
	g.mutex.Unlock()
	select {
	case <-open:
	case <-ctx.Done():
	}
}

func (g *gate) wrap(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(req *http.Request) (*http.Response, error) {
		if req.Method == http.MethodGet && !req.URL.Query().Has("watch") {
			if happens := g.beforeGet.Swap(nil); happens != nil {
				(*happens)()
			}
			if g.misleads.Load() {
				return &http.Response{
					StatusCode: http.StatusNotFound, Status: "404 Not Found", Request: req, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
					Header: http.Header{"Content-Type": {"text/html"}}, Body: io.NopCloser(strings.NewReader("<html>not found</html>")),
				}, nil
			}
			if g.refuses.Load() {
				return nil, errors.New("nothing can be read")
			}
		}
		if fault := g.fault.Load(); fault != nil && req.Method != http.MethodGet {
			return (*fault)(req, next)
		}
		resp, err := next.RoundTrip(req)
		if err == nil && req.URL.Query().Has("watch") {
			resp.Body = &gatedBody{ReadCloser: resp.Body, ctx: req.Context(), gate: g}
		}
		if err == nil && req.Method == http.MethodPatch && g.loses.CompareAndSwap(true, false) {
			g.losses.Add(1)
			return nil, errors.Join(errors.New("the answer got lost"), resp.Body.Close())
		}
		return resp, err
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (r roundTripper) RoundTrip(req *http.Request) (*http.Response, error) { return r(req) }

type gatedBody struct {
	io.ReadCloser
	ctx  context.Context //nolint:containedctx // it lives as long as the request whose body this is
	gate *gate
}

func (b *gatedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.gate.pass(b.ctx)
	return n, err
}

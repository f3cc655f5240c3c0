// SPDX-License-Identifier: Apache-2.0

package dependent_test

import (
	"context"
	"io"
	"net/http"
	"sync"
)

// gate keeps a cache from learning anything while it is shut: it holds back what watches deliver.
type gate struct {
	mutex sync.Mutex
	open  chan struct{} // closed while the gate is open
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
		resp, err := next.RoundTrip(req)
		if err == nil && req.URL.Query().Has("watch") {
			resp.Body = &gatedBody{ReadCloser: resp.Body, ctx: req.Context(), gate: g}
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

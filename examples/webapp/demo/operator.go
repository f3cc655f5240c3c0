// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"

	ctrl "sigs.k8s.io/controller-runtime"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/espalier-dev/espalier/envtest"
	v1 "github.com/espalier-dev/espalier/examples/webapp/api/v1"
	"github.com/espalier-dev/espalier/examples/webapp/graph"
	"github.com/espalier-dev/espalier/reconciler"
	"github.com/espalier-dev/espalier/workflow"
)

// operator is the example's operator in this process, every request of which is recorded.
type operator struct {
	requests envtest.Requests
	cancel   context.CancelFunc
	ended    chan error
}

func startOperator(ctx context.Context, c *cluster, s *screen) (*operator, error) {
	user, err := c.env.User(operatorUser)
	if err != nil {
		return nil, err
	}
	o := &operator{ended: make(chan error, 1)}
	mgr, err := ctrl.NewManager(o.requests.Wrap(user), ctrl.Options{
		Scheme: c.scheme, Metrics: metricsserver.Options{BindAddress: "0"},
	})
	if err != nil {
		return nil, fmt.Errorf("making the operator's manager: %w", err)
	}
	w, err := graph.Workflow()
	if err != nil {
		return nil, err
	}
	options := graph.Options()
	options.OnResult = func(app *v1.WebApp, result *workflow.Result) { s.show(app.Name, result) }
	if err := reconciler.New(w, options).SetupWithManager(mgr); err != nil {
		return nil, err
	}
	ctx, o.cancel = context.WithCancel(ctx)
	go func() { o.ended <- mgr.Start(ctx) }()
	if !mgr.GetCache().WaitForCacheSync(ctx) {
		return nil, fmt.Errorf("starting the operator: its caches didn't sync")
	}
	return o, nil
}

func (o *operator) stop() error {
	o.cancel()
	return <-o.ended
}

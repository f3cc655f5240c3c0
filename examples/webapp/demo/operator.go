// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
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

// startOperator runs the operator until it is stopped. It calls onResult after each run of the graph, and fail if it
// ends by itself.
func startOperator(
	ctx context.Context, c *cluster, onResult func(*v1.WebApp, *workflow.Result), fail context.CancelCauseFunc,
) (*operator, error) {
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
	options.OnResult = onResult
	if err := reconciler.New(w, options).SetupWithManager(mgr); err != nil {
		return nil, err
	}
	ctx, o.cancel = context.WithCancel(ctx)
	go func() {
		err := mgr.Start(ctx)
		if err != nil {
			fail(fmt.Errorf("the operator ended: %w", err))
		}
		o.ended <- err
	}()
	if !mgr.GetCache().WaitForCacheSync(ctx) {
		return nil, errors.Join(context.Cause(ctx), o.stop())
	}
	return o, nil
}

// stop returns when the operator has ended.
func (o *operator) stop() error {
	o.cancel()
	return <-o.ended
}

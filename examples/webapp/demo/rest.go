// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/espalier-dev/espalier/envtest"
)

const (
	rest      = 30 * time.Second
	heartbeat = time.Second // between two of the same object
)

// steadyState moves the status of what the operator watches, as kubelets and controllers do all day. Each event is a
// run of the graph, and no run may send anything.
func steadyState() step {
	beats := &atomic.Int64{}
	note := func(a *account) string { return fmt.Sprintf("%d heartbeats, %d runs", beats.Load(), a.runs.all) }
	return step{
		name: "steady state", title: "Half a minute of heartbeats: there is nothing to do", apps: []string{shop, blog},
		do: func(ctx context.Context, d *demo) error {
			beating, stop := context.WithCancel(ctx)
			defer stop()
			ended := make(chan error, 1)
			go func() { ended <- d.beat(beating, beats) }()
			err := envtest.ExpectNoRequests(ctx, &d.operator.requests, rest)
			stop()
			return errors.Join(err, <-ended)
		},
		note: note,
		check: func(_ context.Context, _ *demo, a *account) (string, error) {
			if a.runs.all == 0 {
				return "", errors.New("no heartbeat has reached the operator, so nothing is shown")
			}
			return note(a), nil
		},
	}
}

// beat changes a condition of every workload, again and again, until ctx ends.
func (d *demo) beat(ctx context.Context, beats *atomic.Int64) error {
	ticker := time.NewTicker(heartbeat)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case now := <-ticker.C:
			if err := d.beatOnce(ctx, now, beats); err != nil && ctx.Err() == nil {
				return fmt.Errorf("sending a heartbeat: %w", err)
			}
		}
	}
}

func (d *demo) beatOnce(ctx context.Context, now time.Time, beats *atomic.Int64) error {
	patch := fmt.Appendf(nil, `{"status": {"conditions": [{"type": "Heartbeat", "status": "True", "message": %q}]}}`,
		now.Format(time.RFC3339Nano))
	for _, app := range []string{shop, blog} {
		for _, obj := range []client.Object{
			&appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: app}},
			&appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: app + "-db"}},
		} {
			err := d.client.Status().Patch(ctx, obj, client.RawPatch(types.StrategicMergePatchType, patch),
				client.FieldOwner("heartbeat"))
			if err != nil {
				return err
			}
			beats.Add(1)
		}
	}
	return nil
}

// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/espalier-dev/espalier/envtest"
)

// TestRun runs the program, leader election included, until it is healthy, and stops it. What it does is tested in
// package reconciler, and shown by the demo.
func TestRun(t *testing.T) {
	if testing.Short() {
		t.Skip("needs a control plane")
	}
	env, err := envtest.Start(t.Context(), envtest.Options{CRDPaths: []string{"config/crd"}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := env.Stop(); err != nil {
			t.Error(err)
		}
	}()
	t.Setenv("KUBECONFIG", env.KubeconfigPath())
	ctrl.SetLogger(logr.Discard())
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	health := freeAddress(t)
	go func() {
		ended <- run(ctx, ctrl.Options{
			Metrics: metricsserver.Options{BindAddress: "0"}, HealthProbeBindAddress: health,
			LeaderElection: true, LeaderElectionID: "webapp-operator", LeaderElectionNamespace: "default",
		})
	}()
	for deadline := time.Now().Add(time.Minute); !healthy(ctx, health); time.Sleep(50 * time.Millisecond) {
		select {
		case err := <-ended:
			t.Fatalf("ended before it was healthy: %v", err)
		default:
		}
		if time.Now().After(deadline) {
			t.Fatal("not healthy within a minute")
		}
	}
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("stopped with %v", err)
	}
}

func healthy(ctx context.Context, address string) bool {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/healthz", nil)
	if err != nil {
		return false
	}
	answer, err := http.DefaultClient.Do(req)
	if err != nil {
		return false
	}
	_ = answer.Body.Close() // it was read from only
	return answer.StatusCode == http.StatusOK
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return l.Addr().String()
}

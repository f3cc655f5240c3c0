// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"testing"
	"time"

	"github.com/go-logr/logr"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/espalier-dev/espalier/envtest"
	v1 "github.com/espalier-dev/espalier/examples/webapp/api/v1"
)

// TestOperator creates a WebApp and changes it: one write per object, and none afterwards.
func TestOperator(t *testing.T) {
	if testing.Short() {
		t.Skip("needs a control plane")
	}
	env, err := envtest.Start(t.Context(), envtest.Options{CRDPaths: []string{"../webapp/config/crd"}})
	if err != nil {
		t.Fatal(err)
	}
	ctrl.SetLogger(logr.Discard())
	requests := &envtest.Requests{}
	mgr, err := ctrl.NewManager(requests.Wrap(env.Config()), ctrl.Options{Metrics: metricsserver.Options{BindAddress: "0"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := SetupWithManager(mgr); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()
	defer func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if err := env.Stop(); err != nil {
			t.Error(err)
		}
	}()

	user, err := client.New(env.Config(), client.Options{Scheme: mgr.GetScheme()})
	if err != nil {
		t.Fatal(err)
	}
	app := &v1.WebApp{
		ObjectMeta: metav1.ObjectMeta{Name: "shop", Namespace: "default"},
		Spec:       v1.WebAppSpec{Image: "registry.example.com/shop:1", Settings: map[string]string{"level": "info"}},
	}
	if err := user.Create(t.Context(), app); err != nil {
		t.Fatal(err)
	}
	web := &appsv1.Deployment{}
	until(t, func(ctx context.Context) bool {
		return user.Get(ctx, client.ObjectKey{Namespace: "default", Name: "shop"}, web) == nil
	})
	if web.OwnerReferences[0].UID != app.UID {
		t.Errorf("it is owned by %v", web.OwnerReferences)
	}
	app.Spec.Settings["level"] = "debug"
	if err := user.Update(t.Context(), app); err != nil {
		t.Fatal(err)
	}
	until(t, func(ctx context.Context) bool {
		config := &corev1.ConfigMap{}
		err := user.Get(ctx, client.ObjectKey{Namespace: "default", Name: "shop-config"}, config)
		return err == nil && config.Data["level"] == "debug"
	})
	if err := envtest.ExpectNoRequests(t.Context(), requests, time.Second); err != nil {
		t.Error(err)
	}
	writes := requests.Since(0).Where(func(r envtest.Request) bool { return r.Write() && !r.Background() })
	if len(writes) != 3 {
		t.Errorf("want one write per change, three in all: %s", writes)
	}
}

func until(t *testing.T, holds func(ctx context.Context) bool) {
	t.Helper()
	err := wait.PollUntilContextTimeout(t.Context(), 20*time.Millisecond, time.Minute, true,
		func(ctx context.Context) (bool, error) { return holds(ctx), nil })
	if err != nil {
		t.Fatal(err)
	}
}

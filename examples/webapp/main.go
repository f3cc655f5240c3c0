// SPDX-License-Identifier: Apache-2.0

// Package main is the operator of WebApps. It runs against the cluster of KUBECONFIG, or the one that it is in.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"

	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/klog/v2/textlogger"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	v1 "github.com/espalier-dev/espalier/examples/webapp/api/v1"
	"github.com/espalier-dev/espalier/examples/webapp/graph"
)

func main() {
	metrics := flag.String("metrics-bind-address", ":8080", "address of the metrics; 0 for none")
	health := flag.String("health-probe-bind-address", ":8081", "address of the health probes; 0 for none")
	elect := flag.Bool("leader-elect", false, "elect a leader, so that several instances may run")
	namespace := flag.String("leader-election-namespace", "", "where leaders are elected; default the operator's own")
	logs := textlogger.NewConfig()
	logs.AddFlags(flag.CommandLine)
	flag.Parse()
	ctrl.SetLogger(textlogger.NewLogger(logs))
	err := run(ctrl.SetupSignalHandler(), ctrl.Options{
		Metrics:                 metricsserver.Options{BindAddress: *metrics},
		HealthProbeBindAddress:  *health,
		LeaderElection:          *elect,
		LeaderElectionID:        "webapp-operator",
		LeaderElectionNamespace: *namespace,
	})
	if err != nil {
		ctrl.Log.Error(err, "Operator ended")
		os.Exit(1)
	}
}

// run is the operator until ctx ends.
func run(ctx context.Context, o ctrl.Options) error {
	o.Scheme = runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1.AddToScheme} {
		if err := add(o.Scheme); err != nil {
			return err
		}
	}
	config, err := ctrl.GetConfig()
	if err != nil {
		return fmt.Errorf("finding the cluster: %w", err)
	}
	mgr, err := ctrl.NewManager(config, o)
	if err != nil {
		return err
	}
	if err := mgr.AddHealthzCheck("ping", healthz.Ping); err != nil {
		return err
	}
	webapps, err := graph.New()
	if err != nil {
		return err
	}
	if err := webapps.SetupWithManager(mgr); err != nil {
		return err
	}
	return mgr.Start(ctx)
}

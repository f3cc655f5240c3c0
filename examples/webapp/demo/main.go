// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// The logs of the operator would tear the pictures apart; its results tell the same.
	ctrl.SetLogger(logr.Discard())
	klog.SetLogger(logr.Discard())
	if err := run(ctx, newScreen(os.Stdout), os.Getenv("KEEP") != ""); err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

// run plays the whole demo. With keep it stays up after the applications are ready, until ctx ends.
func run(ctx context.Context, s *screen, keep bool) (err error) {
	began := time.Now()
	s.title("Starting etcd, kube-apiserver, controllers, scheduler and a simulated node")
	c, err := startCluster(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.stop()) }()
	s.say("the control plane is up after %.1f s", time.Since(began).Seconds())

	o, err := startOperator(ctx, c, s)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, o.stop()) }()

	d := &demo{cluster: c, operator: o, screen: s}
	steps := append(creation(), changes()...)
	if !keep {
		steps = append(steps, steadyState(), deletion())
	}
	for _, step := range steps {
		if err := d.play(ctx, step); err != nil {
			return err
		}
	}
	d.summary(time.Since(began))
	if err := d.limits(); err != nil {
		return err
	}
	if keep {
		s.say("\nexport KUBECONFIG=%s\nkubectl get webapps\nkubectl describe webapp shop\n\nStop with Ctrl-C.",
			c.env.KubeconfigPath())
		<-ctx.Done()
	}
	return nil
}

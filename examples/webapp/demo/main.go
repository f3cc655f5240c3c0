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
	context.AfterFunc(ctx, stop) // a second signal ends at once; the control plane goes with this process in any case
	ctrl.SetLogger(logr.Discard())
	klog.SetLogger(logr.Discard())
	err := run(ctx, newDisplay(os.Stdout), os.Getenv("KEEP") != "")
	if err == nil {
		return
	}
	fmt.Fprintln(os.Stderr, "demo:", err)
	if ctx.Err() != nil {
		os.Exit(128 + int(syscall.SIGINT)) // as shells say it
	}
	os.Exit(1)
}

// run plays the whole demo. With keep it doesn't delete but stays up, until ctx ends.
func run(ctx context.Context, display *display, keep bool) (err error) {
	began := time.Now()
	display.title("Starting etcd, kube-apiserver, controllers, scheduler and a simulated node")
	c, err := startCluster(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.stop()) }()
	display.say("the control plane was up after %.1f s", time.Since(began).Seconds())

	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	d := &demo{cluster: c, display: display, trees: &trees{}}
	if d.operator, err = startOperator(ctx, c, d.observe, fail); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.operator.stop()) }()
	display.say("the operator runs in this process, as user %s, under its role", operatorUser)

	steps := []step{
		creation(), newImage(), newSetting(), exposeOff(), exposeOn(), repairDeletion(), repairEdit(), steadyState(),
	}
	if !keep {
		steps = append(steps, deletion())
	}
	for _, s := range steps {
		if err := d.play(ctx, s); err != nil {
			return err
		}
	}
	display.title("Summary")
	display.say("%s\n%.1f s in all", table(d.accounts), time.Since(began).Seconds())
	if err := overspent(d.accounts); err != nil {
		return err
	}
	display.say("no step cost more than it may: a write for each object that it reaches,\n" +
		"one for a finalizer, and a status for each run that had something new to say")
	if keep {
		d.stayUp(ctx)
	}
	return nil
}

// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/espalier-dev/espalier/envtest"
	v1 "github.com/espalier-dev/espalier/examples/webapp/api/v1"
)

// step is one thing that is done to the cluster. It ends once the operator has dealt with it.
type step struct {
	name  string
	title string
	do    func(ctx context.Context, d *demo) error
	// most is how many writes the operator may need for it, by kind of request; statuses are limited by the changes of
	// states instead.
	most map[string]int
}

// outcome is what a step cost.
type outcome struct {
	step
	took     time.Duration
	requests envtest.RequestLog
	changes  int // runs that left a node in another state
}

type demo struct {
	*cluster
	operator *operator
	screen   *screen
	outcomes []outcome
}

const stepTimeout = time.Minute

func (d *demo) play(ctx context.Context, s step) error {
	ctx, cancel := context.WithTimeoutCause(ctx, stepTimeout, fmt.Errorf("it took longer than %v", stepTimeout))
	defer cancel()
	d.screen.title(s.title)
	began, mark, changes := time.Now(), d.operator.requests.Mark(), d.screen.runsThatChanged()
	if err := s.do(ctx, d); err != nil {
		d.screen.settle()
		return fmt.Errorf("step %q: %w", s.name, err)
	}
	d.screen.settle()
	o := outcome{step: s, took: time.Since(began), changes: d.screen.runsThatChanged() - changes}
	o.requests = d.operator.requests.Since(mark).Foreground()
	d.outcomes = append(d.outcomes, o)
	d.screen.say("%s", o.story())
	return nil
}

// story tells which requests a step took, and to which objects.
func (o *outcome) story() string {
	writes := o.requests.Where(envtest.Request.Write)
	if len(writes) == 0 {
		return fmt.Sprintf("%.1f s, no write by the operator", o.took.Seconds())
	}
	touched := map[string][]string{}
	for _, r := range writes {
		if name := r.Namespace + "/" + r.Name; !slices.Contains(touched[r.Operation()], name) {
			touched[r.Operation()] = append(touched[r.Operation()], name)
		}
	}
	counts := writes.Counts()
	lines := []string{fmt.Sprintf("%.1f s, requests by the operator: %d", o.took.Seconds(), len(o.requests))}
	for _, operation := range slices.Sorted(maps.Keys(touched)) {
		names := strings.Join(touched[operation], ", ")
		lines = append(lines, fmt.Sprintf("%4d × %s: %s", counts[operation], operation, names))
	}
	return strings.Join(lines, "\n")
}

// eventually waits until ok holds, or says what it waited for when ctx ended.
func eventually(ctx context.Context, what string, ok func(ctx context.Context) (bool, error)) error {
	if err := wait.PollUntilContextCancel(ctx, 50*time.Millisecond, true, ok); err != nil {
		return fmt.Errorf("waiting until %s: %w (%w)", what, err, context.Cause(ctx))
	}
	return nil
}

// ready waits until applications are ready for what their specs say now.
func (d *demo) ready(ctx context.Context, names ...string) error {
	for _, name := range names {
		err := eventually(ctx, name+" is ready", func(ctx context.Context) (bool, error) {
			app, err := d.app(ctx, name)
			return err == nil && isReady(app), err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func isReady(app *v1.WebApp) bool {
	c := meta.FindStatusCondition(app.Status.Conditions, "Ready")
	return c != nil && c.Status == "True" && c.ObservedGeneration == app.Generation
}

func (d *demo) app(ctx context.Context, name string) (*v1.WebApp, error) {
	app := &v1.WebApp{}
	return app, d.client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, app)
}

// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/espalier-dev/espalier/envtest"
	v1 "github.com/espalier-dev/espalier/examples/webapp/api/v1"
	"github.com/espalier-dev/espalier/workflow"
)

// The applications, by the names of their samples.
const (
	shop = "shop"
	blog = "blog"
)

// step is one thing that is done to the cluster.
type step struct {
	name  string
	title string
	apps  []string // that it is about
	// do does it, and returns once the operator has dealt with it.
	do func(ctx context.Context, d *demo) error
	// limits are how many writes the operator may need for it, by operation, but for statuses.
	limits map[string]int
	// note says in a few words where the step stands; default the operator's last write.
	note func(a *account) string
	// check, if set, looks at what has come of it, and says what is worth a line or two.
	check func(ctx context.Context, d *demo, a *account) (report string, err error)
}

// demo plays steps and keeps account of what they cost.
type demo struct {
	*cluster
	operator *operator
	display  *display
	trees    *trees
	accounts []*account
}

const (
	// stepTimeout is how long a step may take.
	stepTimeout = time.Minute
	// quiet is how long the operator must have sent nothing until a step is accounted for.
	quiet = 250 * time.Millisecond
)

// observe is told of each run of the graph.
func (d *demo) observe(app *v1.WebApp, result *workflow.Result) {
	transitions := d.trees.take(app, result)
	if d.display.live {
		return // the picture shows it
	}
	for _, line := range transitions {
		d.display.say("%s", line)
	}
}

// play does a step, shows it, and says what it has cost.
func (d *demo) play(ctx context.Context, s step) error {
	ctx, cancel := context.WithTimeoutCause(ctx, stepTimeout, fmt.Errorf("it took longer than %v", stepTimeout))
	defer cancel()
	d.display.title(s.title)
	open := d.open(s)
	stop := d.display.animate(func(width, height int) []string { return d.frame(open(), width, height) })
	err := s.do(ctx, d)
	took := open().took
	if err == nil {
		err = d.settle(ctx)
	}
	stop()
	d.leave(s.apps)
	a, report := open(), ""
	a.took = took
	if err == nil && s.check != nil {
		report, err = s.check(ctx, d, a)
	}
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		err = context.Cause(ctx)
	}
	if err != nil {
		return fmt.Errorf("step %q: %w", s.name, err)
	}
	d.accounts = append(d.accounts, a)
	width, _ := d.display.size()
	d.display.say("%s", a.story(width-2))
	if report != "" {
		d.display.say("%s", report)
	}
	return nil
}

// open begins to keep account of a step. What it returns says what it has cost since.
func (d *demo) open(s step) func() *account {
	began, mark, before := time.Now(), d.operator.requests.Mark(), d.trees.count()
	return func() *account {
		return &account{
			step: s, took: time.Since(began), requests: d.operator.requests.Since(mark).Foreground(),
			runs: d.trees.count().since(before),
		}
	}
}

// frame is the picture of a step that goes on: the trees, and what it has cost so far.
func (d *demo) frame(a *account, width, height int) []string {
	lines := fit(d.trees.lines([]string{shop, blog}, width, d.display.color), height-2)
	return append(lines, "  "+cut(a.soFar(), width-2))
}

// leave shows the trees as they stay: on a terminal all of them in the place of the picture, elsewhere those that a
// step was about.
func (d *demo) leave(apps []string) {
	if !d.display.live {
		d.display.draw(d.trees.lines(apps, 0, false))
		return
	}
	width, height := d.display.size()
	d.display.draw(fit(d.trees.lines([]string{shop, blog}, width, d.display.color), height-1))
}

// settle waits until the operator is quiet.
func (d *demo) settle(ctx context.Context) error {
	for envtest.ExpectNoRequests(ctx, &d.operator.requests, quiet) != nil {
		if ctx.Err() != nil {
			return fmt.Errorf("waiting until the operator is quiet: %w", context.Cause(ctx))
		}
	}
	return nil
}

// eventually waits until ok holds.
func eventually(ctx context.Context, what string, ok func(ctx context.Context) (bool, error)) error {
	err := wait.PollUntilContextCancel(ctx, 50*time.Millisecond, true, ok)
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		return fmt.Errorf("waiting until %s: %w", what, err)
	}
	return nil
}

// ready waits until applications are ready, for what their specs say now.
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
	return c != nil && c.Status == metav1.ConditionTrue && c.ObservedGeneration == app.Generation
}

func (d *demo) app(ctx context.Context, name string) (*v1.WebApp, error) {
	app := &v1.WebApp{}
	return app, d.client.Get(ctx, key(name), app)
}

func key(name string) client.ObjectKey { return client.ObjectKey{Namespace: namespace, Name: name} }

// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/espalier-dev/espalier/examples/webapp/api/v1"
	"github.com/espalier-dev/espalier/workflow"
)

func appOf(generation int64) *v1.WebApp {
	return &v1.WebApp{ObjectMeta: metav1.ObjectMeta{Name: shop, Generation: generation}}
}

func resultOf(nodes ...workflow.NodeResult) *workflow.Result { return &workflow.Result{Nodes: nodes} }

func TestTake(t *testing.T) {
	var all trees
	database := workflow.NodeResult{Name: "database", State: workflow.NotReady, Message: "not yet"}
	web := workflow.NodeResult{Name: "web", State: workflow.Blocked, BlockedBy: []string{"database"}}
	ready := workflow.NodeResult{Name: "database", State: workflow.Ready}
	elsewhere := workflow.NodeResult{Name: "web", State: workflow.Blocked, BlockedBy: []string{"config"}}
	for _, test := range []struct {
		name       string
		generation int64
		result     *workflow.Result
		want       []string
		news       int
	}{
		{"the first run", 1, resultOf(database, web), []string{
			"shop  database          new → NotReady (not yet)",
			"shop  web               new → Blocked (waits for database)",
		}, 1},
		{"nothing has changed", 1, resultOf(database, web), nil, 1},
		{"another generation", 2, resultOf(database, web), nil, 2},
		{"another state", 2, resultOf(ready, web), []string{"shop  database          NotReady → Ready"}, 3},
		{"another reason", 2, resultOf(ready, elsewhere), nil, 4},
	} {
		got := all.take(appOf(test.generation), test.result)
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
		if got := all.count().news; got != test.news {
			t.Errorf("%s: %d runs had news, want %d", test.name, got, test.news)
		}
	}
	if got, want := all.count().since(runs{all: 1, news: 1}), (runs{all: 4, news: 3}); got != want {
		t.Errorf("since the first run: got %v, want %v", got, want)
	}
}

func TestTreesBeforeTheFirstRun(t *testing.T) {
	var all trees
	if diff := cmp.Diff([]string{"  shop", "  blog"}, all.lines([]string{shop, blog}, 80, false)); diff != "" {
		t.Errorf("one below the other (-want +got):\n%s", diff)
	}
	side := []string{"  \x1b[1mshop\x1b[0m" + strings.Repeat(" ", 70) + "\x1b[1mblog\x1b[0m"}
	if diff := cmp.Diff(side, all.lines([]string{shop, blog}, 148, true)); diff != "" {
		t.Errorf("side by side (-want +got):\n%s", diff)
	}
}

func TestTrees(t *testing.T) {
	b := workflow.NewBuilder[*v1.WebApp]("webapp")
	value := func(*workflow.Run[*v1.WebApp]) (int, error) { return 1, nil }
	workflow.Value(b, "web", value).DependsOn(workflow.Value(b, "config", value))
	w, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	runner, err := workflow.NewRunner(w, nil, workflow.Options{})
	if err != nil {
		t.Fatal(err)
	}
	all := trees{apps: map[string]tree{}}
	for generation, name := range []string{blog, shop} {
		subject := workflow.Subject[*v1.WebApp]{Primary: appOf(1), ID: name}
		all.apps[name] = tree{int64(generation), runner.Reconcile(t.Context(), subject)}
	}
	for _, test := range []struct {
		name  string
		width int
		color bool
		want  []string
	}{
		{"no terminal", 0, false, []string{
			"  shop, generation 1", "  └─ config  ✔ Ready", "     └─ web  ✔ Ready",
			"  blog, generation 0", "  └─ config  ✔ Ready", "     └─ web  ✔ Ready",
		}},
		{"one below the other", 143, false, []string{
			"  shop, generation 1", "  └─ config  ✔ Ready", "     └─ web  ✔ Ready",
			"  blog, generation 0", "  └─ config  ✔ Ready", "     └─ web  ✔ Ready",
		}},
		{"side by side", 144, true, []string{
			"  \x1b[1mshop\x1b[0m, generation 1" + strings.Repeat(" ", 52) + "  \x1b[1mblog\x1b[0m, generation 0",
			"  └─ config  \x1b[32m✔ Ready\x1b[0m" + strings.Repeat(" ", 52) + "  └─ config  \x1b[32m✔ Ready\x1b[0m",
			"     └─ web  \x1b[32m✔ Ready\x1b[0m" + strings.Repeat(" ", 52) + "     └─ web  \x1b[32m✔ Ready\x1b[0m",
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, all.lines([]string{shop, blog}, test.width, test.color)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestVisible(t *testing.T) {
	for text, want := range map[string]int{"": 0, "äb": 2, "\x1b[32m✔ Ready\x1b[0m  x": 10, "\x1b[1ma\x1b[0m": 1} {
		if got := visible(text); got != want {
			t.Errorf("%q: got %d, want %d", text, got, want)
		}
	}
}

// SPDX-License-Identifier: Apache-2.0

package dependent_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/cluster"

	"github.com/espalier-dev/espalier/dependent"
	v1 "github.com/espalier-dev/espalier/examples/webapp/api/v1"
	"github.com/espalier-dev/espalier/workflow"
)

func TestNewEngineRefuses(t *testing.T) { // R60
	w := newWorld(t)
	_, err := dependent.NewEngine(w.cluster, dependent.EngineOptions{
		Primary: schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Nothing"},
	})
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{"EngineOptions.FieldManager is empty", "finding the scope of the primary, Nothing"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error %q doesn't say %q", err, want)
		}
	}
}

func TestBindRefuses(t *testing.T) { // R60
	w := newWorld(t)
	type unknown struct{ corev1.ConfigMap }
	tests := []struct {
		name    string
		env     any
		declare func(b builder)
		want    string
	}{
		{"no engine", "something else", (&settings{}).declare, `node "node": it needs a *dependent.Engine to run in, not a string`},
		{"an unknown type", w.engine, func(b builder) {
			dependent.Typed(b, "node", func(run) (*unknown, error) { return nil, nil })
		}, "add its package's AddToScheme to the manager's scheme"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			b := workflow.NewBuilder[*v1.WebApp]("webapp")
			test.declare(b)
			graph, err := b.Build()
			if err != nil {
				t.Fatal(err)
			}
			if _, err = workflow.NewRunner(graph, test.env, workflow.Options{}); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got the error %v, want %q in it", err, test.want)
			}
		})
	}
}

// The prefix of the labels is an option.
func TestPrefix(t *testing.T) { // R36
	w := newWorld(t, func(*cluster.Options) {})
	var err error
	w.engine, err = dependent.NewEngine(w.cluster, dependent.EngineOptions{
		FieldManager: "other", Primary: primaryKind(), Prefix: "shops.example.com",
	})
	if err != nil {
		t.Fatal(err)
	}
	if want := "shops.example.com/owner"; w.engine.OwnerLabel() != want {
		t.Errorf("the label is %q, want %q", w.engine.OwnerLabel(), want)
	}
	s := &settings{}
	row, _ := w.reconcile(t, w.runner(t, s.declare))
	wantRow(t, row, workflow.Ready, "")
	live := read[corev1.ConfigMap](t, w, "settings")
	if len(live.Labels) != 3 || live.Labels["shops.example.com/node"] != "node" || live.ManagedFields[0].Manager != "other" {
		t.Errorf("labels %v, managed by %s", live.Labels, live.ManagedFields[0].Manager)
	}
}

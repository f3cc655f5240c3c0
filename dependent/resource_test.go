// SPDX-License-Identifier: Apache-2.0

package dependent_test

import (
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coreac "k8s.io/client-go/applyconfigurations/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/espalier-dev/espalier/dependent"
	"github.com/espalier-dev/espalier/workflow"
)

func configMap(namespace, name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
}

// What an author can get wrong is refused before anything is sent, for good, and says what to do.
func TestRefusedIntents(t *testing.T) { // R17 R60 X24
	tests := []struct {
		name    string
		declare func(b builder)
		reason  string
		message string
	}{
		{"no name", func(b builder) {
			dependent.Typed(b, "node", func(run) (*corev1.ConfigMap, error) { return configMap("", ""), nil })
		}, "InvalidName", "the desired ConfigMap has no metadata.name: use dependent.Name"},
		{"no name in a configuration", func(b builder) {
			dependent.Apply[corev1.ConfigMap](b, "node", func(run) (*coreac.ConfigMapApplyConfiguration, error) {
				return &coreac.ConfigMapApplyConfiguration{}, nil
			})
		}, "InvalidName", "the desired ConfigMap has no metadata.name: use dependent.Name"},
		{"another namespace", func(b builder) {
			dependent.Typed(b, "node", func(run) (*corev1.ConfigMap, error) { return configMap("default", "settings"), nil })
		}, "InvalidName", `ConfigMap "settings" is in namespace "default", its primary in "%s": declare the node with AnyNamespace()`},
		{"a namespace of a cluster-scoped object", func(b builder) {
			dependent.Typed(b, "node", func(run) (*rbacv1.ClusterRole, error) {
				return &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "role"}}, nil
			})
		}, "InvalidName", `ClusterRole "role" has metadata.namespace, but its kind is cluster-scoped: leave it out`},
		{"nil", func(b builder) {
			dependent.Typed(b, "node", func(run) (*corev1.ConfigMap, error) { return nil, nil })
		}, "Error", "the desired state is nil: return an object, or give the node a ReconcileWhen"},
		{"a nil configuration", func(b builder) {
			dependent.Apply[corev1.ConfigMap](b, "node", func(run) (*coreac.ConfigMapApplyConfiguration, error) { return nil, nil })
		}, "Error", "the desired state is nil: return an object, or give the node a ReconcileWhen"},
		{"an error", func(b builder) {
			dependent.Typed(b, "node", func(run) (*corev1.ConfigMap, error) { return nil, errors.New("no idea") })
		}, "Error", "no idea"},
		{"not yet", func(b builder) {
			dependent.Typed(b, "node", func(run) (*corev1.ConfigMap, error) { return nil, workflow.NotYet("NoInput", "no input") })
		}, "NoInput", "no input"}, // R7 B3
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t)
			row, sent := w.reconcile(t, w.runner(t, test.declare))
			wantSent(t, sent)
			message := strings.ReplaceAll(test.message, "%s", w.namespace)
			if row.Reason != test.reason || row.Message != message {
				t.Errorf("reason %q, message %q; want %q, %q", row.Reason, row.Message, test.reason, message)
			}
			if terminal := test.reason == "InvalidName"; workflow.IsTerminal(row.Err) != terminal {
				t.Errorf("terminal = %t, want %t", !terminal, terminal)
			}
		})
	}
}

func TestAnyNamespace(t *testing.T) { // R17 R36 I5 X15
	w := newWorld(t)
	elsewhere := w.namespace + "-b"
	w.create(t, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: elsewhere}})
	runner := w.runner(t, func(b builder) {
		dependent.Typed(b, "node", func(run) (*corev1.ConfigMap, error) { return configMap(elsewhere, "settings"), nil }).AnyNamespace()
	})
	row, sent := w.reconcile(t, runner)
	wantRow(t, row, workflow.Ready, "")
	wantSent(t, sent, "apply configmaps")
	live := read[corev1.ConfigMap](t, &world{others: w.others, namespace: elsewhere}, "settings")
	if len(live.OwnerReferences) > 0 {
		t.Errorf("an owner reference across namespaces: %v", live.OwnerReferences)
	}
	w.sees(t, live)
	if !runner.NeedsCleanup() {
		t.Error("the garbage collector can't remove it")
	}
	_, sent = w.cleanup(t, runner)
	wantSent(t, sent, "delete configmaps")
	w.misses(t, live)
	row, _ = w.cleanup(t, runner)
	wantRow(t, row, workflow.Deleted, "")
}

// A node yields what its own write returned: what depends on it is made in the same run.
func TestChain(t *testing.T) { // R8 F16
	w := newWorld(t)
	runner := w.runner(t, func(b builder) {
		first := dependent.Typed(b, "first", func(run) (*corev1.ConfigMap, error) { return configMap("", "first"), nil })
		second := dependent.Typed(b, "second", func(r run) (*corev1.ConfigMap, error) {
			out := configMap("", "second")
			out.Data = map[string]string{"after": string(first.Get(r).UID)}
			return out, nil
		}).DependsOn(first)
		dependent.Typed(b, "node", func(r run) (*corev1.ConfigMap, error) {
			out := configMap("", "third")
			out.Data = map[string]string{"after": second.Get(r).Data["after"]}
			return out, nil
		}).DependsOn(second)
	})
	w.gate.shut()
	row, sent := w.reconcile(t, runner)
	wantRow(t, row, workflow.Ready, "")
	wantSent(t, sent, "apply configmaps", "apply configmaps", "apply configmaps")
	if want, got := string(read[corev1.ConfigMap](t, w, "first").UID), read[corev1.ConfigMap](t, w, "third").Data["after"]; got != want {
		t.Errorf("the third knows of %q, want %q", got, want)
	}
	_, sent = w.reconcile(t, runner)
	wantSent(t, sent)
	w.gate.reopen()
}

// A cluster-scoped primary may own what is in a namespace, but has none to lend.
func TestClusterScopedPrimary(t *testing.T) { // R17 R36 R60 I4 X24
	w := newWorld(t)
	engine, err := dependent.NewEngine(w.cluster, dependent.EngineOptions{
		FieldManager: "namespaces", Primary: corev1.SchemeGroupVersion.WithKind("Namespace"),
	})
	if err != nil {
		t.Fatal(err)
	}
	primary := &corev1.Namespace{}
	if err := w.others.Get(t.Context(), client.ObjectKey{Name: w.namespace}, primary); err != nil {
		t.Fatal(err)
	}
	namespace := ""
	b := workflow.NewBuilder[*corev1.Namespace]("namespaces")
	dependent.Typed(b, "node", func(*workflow.Run[*corev1.Namespace]) (*corev1.ConfigMap, error) {
		return configMap(namespace, "settings"), nil
	})
	graph, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	runner, err := workflow.NewRunner(graph, engine, workflow.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.cluster.GetCache().GetInformer(t.Context(), &corev1.ConfigMap{}); err != nil {
		t.Fatal(err)
	}
	subject := workflow.Subject[*corev1.Namespace]{Primary: primary, ID: string(primary.UID)}
	row := runner.Reconcile(t.Context(), subject).Node("node")
	wantRow(t, row, workflow.Failed, "InvalidName")
	if want := `ConfigMap "settings" has no metadata.namespace, and neither has its primary: set it`; row.Message != want {
		t.Errorf("the message is %q, want %q", row.Message, want)
	}
	namespace, subject.Revision = w.namespace, 1
	row = runner.Reconcile(t.Context(), subject).Node("node")
	wantRow(t, row, workflow.Ready, "")
	if live := read[corev1.ConfigMap](t, w, "settings"); !metav1.IsControlledBy(live, primary) || runner.NeedsCleanup() {
		t.Errorf("the owner references are %v; a cleanup is needed: %t", live.OwnerReferences, runner.NeedsCleanup())
	}
}

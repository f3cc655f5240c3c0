// SPDX-License-Identifier: Apache-2.0

package dependent_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/cluster"

	"github.com/espalier-dev/espalier/dependent"
	v1 "github.com/espalier-dev/espalier/examples/webapp/api/v1"
	"github.com/espalier-dev/espalier/workflow"
)

// A kind that may not be listed is never taken for one of which nothing is there: not to create, not to delete, and it
// concerns its own node alone.
func TestUnreadableKind(t *testing.T) { // R32 R4
	w := newWorld(t)
	name := "half-" + w.namespace
	allow(t, w, name,
		rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"*"}},
		rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"patch", "delete"}},
	)
	user, err := shared.get(t).User(name)
	if err != nil {
		t.Fatal(err)
	}
	w.startAs(t, user)
	b := workflow.NewBuilder[*v1.WebApp]("webapp")
	dependent.Typed(b, "readable", func(run) (*corev1.ConfigMap, error) { return configMap("", "settings"), nil })
	dependent.Typed(b, "node", func(run) (*corev1.Secret, error) { return secret(corev1.SecretTypeOpaque, "a", "b"), nil })
	graph, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	runner, err := workflow.NewRunner(graph, w.engine, workflow.Options{OrderedDeletion: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.cluster.GetCache().GetInformer(t.Context(), &corev1.ConfigMap{}); err != nil {
		t.Fatal(err)
	}
	mark := w.requests.Mark()
	result := runner.Reconcile(t.Context(), of(w.primary))
	wantRow(t, result.Node("readable"), workflow.Ready, "")
	wantRow(t, result.Node("node"), workflow.Failed, "Forbidden")
	if message := result.Node("node").Message; !strings.Contains(message, "must be able to list and watch") {
		t.Errorf("the message is %q", message)
	}
	result = runner.Cleanup(t.Context(), of(w.primary))
	wantRow(t, result.Node("node"), workflow.Failed, "Forbidden")
	if result.Complete() {
		t.Error("the cleanup is complete, though nobody knows")
	}
	for operation := range w.requests.Since(mark).Counts() {
		if strings.HasSuffix(operation, " secrets") && operation != "list secrets" && operation != "watch secrets" {
			t.Errorf("sent %q", operation)
		}
	}
}

func TestNamespaceOutOfTheCache(t *testing.T) { // R32
	w := newWorld(t, func(o *cluster.Options) { o.Cache.DefaultNamespaces = map[string]cache.Config{"default": {}} })
	s := &settings{}
	runner := w.runner(t, s.declare, workflow.Options{OrderedDeletion: true})
	row, sent := w.reconcile(t, runner)
	wantRow(t, row, workflow.Failed, "Error")
	wantSent(t, sent)
	if !strings.Contains(row.Message, `reading ConfigMap "settings"`) || !strings.Contains(row.Message, "unknown namespace") {
		t.Errorf("the message is %q", row.Message)
	}
	row, sent = w.cleanup(t, runner)
	wantSent(t, sent)
	wantRow(t, row, workflow.Failed, "Error")
}

// One engine serves all primaries at once.
func TestManyPrimariesAtOnce(t *testing.T) { // R11 R32
	w := newWorld(t)
	runner := w.runner(t, func(b builder) {
		for i := range 3 {
			dependent.Typed(b, fmt.Sprintf("node-%d", i), func(r run) (*corev1.ConfigMap, error) {
				return configMap("", dependent.Name(r.Primary(), fmt.Sprint(i))), nil
			})
		}
		dependent.Generate[corev1.Secret](b, "secret", map[string]dependent.Generator{"a": dependent.RandomText(10)})
	}, workflow.Options{OrderedDeletion: true})
	var primaries []*v1.WebApp
	for i := range 8 {
		primaries = append(primaries, w.newPrimary(t, fmt.Sprintf("app-%d", i)))
	}
	mark := w.requests.Mark()
	var wg sync.WaitGroup
	for _, primary := range primaries {
		wg.Go(func() {
			for range 5 {
				if err := runner.Reconcile(t.Context(), of(primary)).Err(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	wantCounts(t, w, mark, map[string]int{"apply configmaps": 24, "apply secrets": 8})
	mark = w.requests.Mark()
	for _, primary := range primaries {
		wg.Go(func() {
			w.waits(t, func(ctx context.Context) bool {
				result := runner.Cleanup(ctx, of(primary))
				w.engine.Forget(primary.UID)
				return result.Complete()
			}, "%s isn't cleaned up", primary.Name)
		})
	}
	wg.Wait()
	wantCounts(t, w, mark, map[string]int{"delete configmaps": 24, "delete secrets": 8})
	for _, primary := range primaries {
		if left, err := w.engine.Remains(t.Context(), primary, "webapp", every); err != nil || left != "" {
			t.Errorf("%s: %s is left, %v", primary.Name, left, err)
		}
	}
}

func wantCounts(t *testing.T, w *world, mark int, want map[string]int) {
	t.Helper()
	got := w.requests.Since(mark).Foreground().Counts()
	for operation, count := range want {
		if got[operation] != count {
			t.Errorf("sent %q %d times, want %d", operation, got[operation], count)
		}
		delete(got, operation)
	}
	if len(got) > 0 {
		t.Errorf("sent %v besides", got)
	}
}

// every says of each node that it deletes what it wrote.
func every(string) bool { return true }

// What is asked for is what a deletion has to remove, where it may be, and nothing that others have made.
func TestRemains(t *testing.T) { // R15 R17 R41 R61
	w := newWorld(t)
	w.reconcile(t, w.runner(t, func(b builder) {
		dependent.Typed(b, "node", func(run) (*corev1.ConfigMap, error) { return configMap("", "settings"), nil })
		dependent.Typed(b, "other", func(run) (*corev1.Secret, error) {
			return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "elsewhere", Namespace: "default"}}, nil
		}).AnyNamespace()
	}))
	live := read[corev1.ConfigMap](t, w, "settings")
	elsewhere := read[corev1.Secret](t, &world{others: w.others, namespace: "default"}, "elsewhere")
	t.Cleanup(func() { _ = w.others.Delete(context.Background(), elsewhere) })
	remains := func(workflow string, nodes ...string) string {
		t.Helper()
		left, err := w.engine.Remains(t.Context(), w.primary, workflow, func(node string) bool { return slices.Contains(nodes, node) })
		if err != nil {
			t.Fatal(err)
		}
		return left
	}
	settings := fmt.Sprintf(`ConfigMap "settings" in namespace %q`, w.namespace)
	tests := []struct {
		name, workflow string
		nodes          []string
		want           string
	}{
		{name: "both", workflow: "webapp", nodes: []string{"node", "other"}, want: settings},
		{name: "one", workflow: "webapp", nodes: []string{"node"}, want: settings},
		{name: "in another namespace", workflow: "webapp", nodes: []string{"other"}, want: `Secret "elsewhere" in namespace "default"`},
		{name: "a node that is left alone, or gone from the graph", workflow: "webapp"},
		{name: "another workflow", workflow: "another", nodes: []string{"node", "other"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := remains(test.workflow, test.nodes...); got != test.want {
				t.Errorf("%q is left, want %q", got, test.want)
			}
		})
	}
	w.create(t, copyOf(live, "copied"))
	if err := w.others.Delete(t.Context(), live); err != nil {
		t.Fatal(err)
	}
	if left := remains("webapp", "node"); left != "" {
		t.Errorf("%s is left: a copy that somebody made is theirs", left)
	}
}

// An operator that may see one namespace only can tell that nothing is left in it, whatever there is elsewhere.
func TestRemainsInOneNamespace(t *testing.T) { // R61
	w := newWorld(t)
	user := "confined-" + w.namespace
	subject := []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "User", Name: user}}
	w.create(t, &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: user, Namespace: w.namespace}, Rules: []rbacv1.PolicyRule{
		{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"*"}},
	}})
	w.create(t, &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: user, Namespace: w.namespace},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: user}, Subjects: subject,
	})
	cfg, err := shared.get(t).User(user)
	if err != nil {
		t.Fatal(err)
	}
	w.startAs(t, cfg, w.alone)
	row, _ := w.reconcile(t, w.runner(t, (&settings{}).declare))
	wantRow(t, row, workflow.Ready, "")
	live := read[corev1.ConfigMap](t, w, "settings")
	for range 2 {
		left, err := w.engine.Remains(t.Context(), w.primary, "webapp", every)
		if err != nil {
			t.Fatal(err)
		}
		if gone := isGone(t, w, live); gone != (left == "") {
			t.Errorf("%q is left, gone: %t", left, gone)
		}
		if err := client.IgnoreNotFound(w.others.Delete(t.Context(), live)); err != nil {
			t.Fatal(err)
		}
	}
}

// A cache of chosen namespaces can't say what it has seen. An object that was deleted before it was read is made again
// all the same, and one that is hidden isn't asked for again and again.
func TestCacheOfChosenNamespaces(t *testing.T) { // R32 R33
	t.Run("deleted at once", func(t *testing.T) {
		w, s := newWorld(t), &settings{}
		w = w.restarted(t, w.alone)
		runner := w.runner(t, s.declare)
		w.gate.shut()
		w.reconcile(t, runner)
		first := read[corev1.ConfigMap](t, w, "settings")
		if err := w.others.Delete(t.Context(), first); err != nil {
			t.Fatal(err)
		}
		w.gate.reopen()
		sent := w.sends(func() {
			w.waits(t, func(ctx context.Context) bool {
				runner.Reconcile(ctx, of(w.primary))
				return w.others.Get(ctx, client.ObjectKeyFromObject(first), &corev1.ConfigMap{}) == nil
			}, "it isn't made again")
		})
		wantSent(t, sent, "apply configmaps")
	})
	t.Run("hidden", func(t *testing.T) {
		w, s := newWorld(t), &settings{}
		w.reconcile(t, w.runner(t, s.declare))
		w = w.restarted(t, w.alone, func(o *cluster.Options) {
			o.Cache.ByObject = map[client.Object]cache.ByObject{
				&corev1.ConfigMap{}: {Label: labels.SelectorFromSet(labels.Set{"example.com/shown": "yes"})},
			}
		})
		runner := w.runner(t, s.declare)
		row, _ := w.reconcile(t, runner)
		wantRow(t, row, workflow.Waiting, "Unseen")
		dependent.Hurry(w.engine)
		row, sent := w.reconcile(t, runner)
		wantRow(t, row, workflow.Failed, "Hidden")
		wantSent(t, sent, "apply configmaps", "get configmaps")
		row, sent = w.reconcile(t, runner)
		wantRow(t, row, workflow.Failed, "Hidden")
		wantSent(t, sent)
	})
}

func TestPlanTimeLookup(t *testing.T) { // R1 R40
	w := newWorld(t)
	var seen []bool
	runner := w.runner(t, func(b builder) {
		first := dependent.Typed(b, "first", func(run) (*corev1.ConfigMap, error) { return configMap("", "first"), nil })
		dependent.Typed(b, "node", func(run) (*corev1.ConfigMap, error) { return configMap("", "second"), nil }).
			DependsOn(first).
			ReconcileWhen("first is there", func(r run) workflow.Verdict {
				_, ok := first.Lookup(r)
				seen = append(seen, ok)
				return workflow.If(ok, "NotYet", "")
			})
	})
	w.gate.shut()
	row, _ := w.reconcile(t, runner)
	wantRow(t, row, workflow.Disabled, "NotYet")
	row, _ = w.reconcile(t, runner) // known though the cache doesn't show it yet
	wantRow(t, row, workflow.Ready, "")
	w.gate.reopen()
	live := read[corev1.ConfigMap](t, w, "first")
	w.sees(t, live)
	w.patch(t, live, `{"metadata":{"finalizers":["example.com/hold"]}}`)
	if err := w.others.Delete(t.Context(), live); err != nil {
		t.Fatal(err)
	}
	w.sees(t, read[corev1.ConfigMap](t, w, "first"))
	w.reconcile(t, runner) // what is being deleted isn't there
	if want := []bool{false, true, false}; fmt.Sprint(seen) != fmt.Sprint(want) {
		t.Errorf("it was there: %v, want %v", seen, want)
	}
}

// SPDX-License-Identifier: Apache-2.0

package dependent_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/cluster"

	"github.com/espalier-dev/espalier/dependent"
	"github.com/espalier-dev/espalier/envtest"
	v1 "github.com/espalier-dev/espalier/examples/webapp/api/v1"
	"github.com/espalier-dev/espalier/workflow"
)

// remote is another cluster, with a control plane of its own, as the operator sees it.
type remote struct {
	others   client.Client
	requests *envtest.Requests
	gate     *gate
	cluster  cluster.Cluster
	away     atomic.Bool // it can't be reached
	env      *envtest.Environment
}

func newRemote(tb testing.TB) *remote {
	tb.Helper()
	shared.get(tb) // or skip
	env, err := envtest.Start(tb.Context(), envtest.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := env.Stop(); err != nil {
			tb.Error(err)
		}
	})
	r := &remote{env: env}
	others, err := client.New(env.Config(), client.Options{Scheme: newScheme(tb)})
	if err != nil {
		tb.Fatal(err)
	}
	r.others = client.WithFieldOwner(others, stranger)
	r.connect(tb)
	return r
}

// connect gives the operator a new connection.
func (r *remote) connect(tb testing.TB) {
	tb.Helper()
	r.requests, r.gate = &envtest.Requests{}, newGate()
	cfg := r.requests.Wrap(r.env.Config())
	cfg.Wrap(r.gate.wrap)
	c, err := cluster.New(cfg, func(o *cluster.Options) { o.Scheme = newScheme(tb) })
	if err != nil {
		tb.Fatal(err)
	}
	starts(tb, c)
	r.cluster = c
}

// joined returns a world whose operator knows the cluster under the name "edge".
func (r *remote) joined(tb testing.TB, w *world) *world {
	tb.Helper()
	w.clusters = func(name string) (dependent.Target, error) {
		if name != "edge" || r.away.Load() {
			return nil, errors.New("it isn't there")
		}
		return r.cluster, nil
	}
	return w.restarted(tb)
}

func (r *remote) read(tb testing.TB, w *world, name string) *corev1.ConfigMap {
	tb.Helper()
	obj := &corev1.ConfigMap{}
	if err := r.others.Get(tb.Context(), client.ObjectKey{Namespace: w.namespace, Name: name}, obj); err != nil {
		tb.Fatal(err)
	}
	return obj
}

// reconcile returns the row of the node and what was sent to the other cluster, but for watches.
func (r *remote) reconcile(tb testing.TB, w *world, runner *workflow.Runner[*v1.WebApp]) (workflow.NodeResult, map[string]int) {
	tb.Helper()
	mark := r.requests.Mark()
	row, _ := w.reconcile(tb, runner)
	return row, r.requests.Since(mark).Where(func(q envtest.Request) bool { return q.Verb != "watch" }).Counts()
}

func (r *remote) becomes(tb testing.TB, w *world, runner *workflow.Runner[*v1.WebApp], state workflow.State) {
	tb.Helper()
	var row workflow.NodeResult
	w.waits(tb, func(context.Context) bool {
		row, _ = r.reconcile(tb, w, runner)
		return row.State == state
	}, "the node doesn't become %s, it is %+v", state, &row)
}

func TestInCluster(t *testing.T) { // R31 R36 R40
	w, there := newWorld(t), newRemote(t)
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.namespace}}
	if err := there.others.Create(t.Context(), namespace); err != nil {
		t.Fatal(err)
	}
	w = there.joined(t, w)
	wanted, data := atomic.Bool{}, "1"
	wanted.Store(true)
	declare := func(b builder) {
		dependent.Typed(b, "here", func(run) (*corev1.ConfigMap, error) { return configMap("", "settings"), nil })
		dependent.Typed(b, "node", func(run) (*corev1.ConfigMap, error) {
			c := configMap("", "settings") // the same name, in another cluster
			c.Data = map[string]string{"a": data}
			return c, nil
		}).InCluster("edge").ReconcileWhen("wanted", func(run) workflow.Verdict {
			return workflow.If(wanted.Load(), "Unwanted", "it isn't wanted")
		})
	}
	runner := w.runner(t, declare)
	changed := make(chan types.UID, 1000)
	w.engine.Watch(t.Context(), func(primary types.UID) { changed <- primary }, func() {})
	there.becomes(t, w, runner, workflow.Ready)
	row, sent := there.reconcile(t, w, runner)
	wantRow(t, row, workflow.Ready, "")
	wantSent(t, sent)
	live := there.read(t, w, "settings")
	if len(live.OwnerReferences) > 0 || live.Labels[w.engine.OwnerLabel()] != string(w.primary.UID) {
		t.Errorf("the object has owners %v and labels %v", live.OwnerReferences, live.Labels)
	}
	if here := read[corev1.ConfigMap](t, w, "settings"); here.Data["a"] == "1" || here.UID == live.UID {
		t.Errorf("the object here is %v", here)
	}
	if !runner.NeedsCleanup() {
		t.Error("nobody would delete what is in the other cluster")
	}

	patch := client.RawPatch("application/merge-patch+json", []byte(`{"data": {"a": "drift"}}`))
	if err := there.others.Patch(t.Context(), live, patch); err != nil {
		t.Fatal(err)
	}
	for sent = nil; len(sent) == 0; { // the change wakes the primary
		if primary := <-changed; primary != w.primary.UID {
			t.Errorf("primary %s is woken", primary)
		}
		row, sent = there.reconcile(t, w, runner)
	}
	wantRow(t, row, workflow.Ready, "")
	wantSent(t, sent, "apply configmaps")

	there.away.Store(true)
	row, sent = there.reconcile(t, w, runner)
	wantRow(t, row, workflow.Failed, "Error")
	wantSent(t, sent)
	wanted.Store(false)
	row, _ = there.reconcile(t, w, runner)
	wantRow(t, row, workflow.Failed, "Error") // not gone, and not deleted
	if result := runner.Cleanup(t.Context(), of(w.primary)); result.Complete() {
		t.Error("the cleanup is complete, though the cluster can't be reached")
	}
	if _, err := w.engine.Remains(t.Context(), w.primary, "webapp", func(node string) bool { return node == "node" }); err == nil {
		t.Error("nothing remains in a cluster that can't be reached")
	}
	there.away.Store(false)
	there.connect(t) // another connection, with a cache of its own
	wanted.Store(true)
	there.becomes(t, w, runner, workflow.Ready)
	row, sent = there.reconcile(t, w, runner)
	wantRow(t, row, workflow.Ready, "")
	wantSent(t, sent)

	row, _ = w.cleanup(t, runner)
	for row.State == workflow.Deleting {
		<-changed
		row, _ = w.cleanup(t, runner)
	}
	wantRow(t, row, workflow.Deleted, "")
}

// An operator that starts while the other cluster is down knows nothing of it.
func TestClusterIsDown(t *testing.T) { // R32 R40
	w, there := newWorld(t), newRemote(t)
	there.gate.refuses.Store(true)
	w = there.joined(t, w)
	runner := w.runner(t, func(b builder) {
		dependent.Typed(b, "node", func(run) (*corev1.ConfigMap, error) { return configMap("", "settings"), nil }).
			InCluster("edge").ReconcileWhen("unwanted", func(run) workflow.Verdict { return workflow.Unmet("Unwanted", "never") })
	})
	row, _ := there.reconcile(t, w, runner)
	wantRow(t, row, workflow.Failed, "Error")
	if result := runner.Cleanup(t.Context(), of(w.primary)); result.Complete() {
		t.Error("the cleanup is complete, though the cluster is down")
	}
}

// What another operator has written in the other cluster, for a primary of the same name in a third, is theirs: names
// of primaries are unique in one cluster only.
func TestSameNameInAThirdCluster(t *testing.T) { // R34
	w, there := newWorld(t), newRemote(t)
	theirs := configMap(w.namespace, "settings")
	theirs.Labels = map[string]string{
		"espalier.dev/workflow": "webapp", "espalier.dev/node": "node", "espalier.dev/owner": "a-third-cluster",
	}
	theirs.Annotations = map[string]string{"espalier.dev/primary": w.primary.Name}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.namespace}}
	if err := errors.Join(there.others.Create(t.Context(), namespace), there.others.Create(t.Context(), theirs)); err != nil {
		t.Fatal(err)
	}
	w = there.joined(t, w)
	runner := w.runner(t, func(b builder) {
		dependent.Typed(b, "node", func(run) (*corev1.ConfigMap, error) { return configMap("", "settings"), nil }).InCluster("edge")
	})
	w.waits(t, func(context.Context) bool {
		row, _ := there.reconcile(t, w, runner)
		return row.Reason == "NotOwned"
	}, "it is taken")
}

func TestInClusterNeedsClusters(t *testing.T) {
	w := newWorld(t)
	b := workflow.NewBuilder[*v1.WebApp]("webapp")
	dependent.Typed(b, "node", func(run) (*corev1.ConfigMap, error) { return nil, errors.New("not reached") }).InCluster("edge")
	graph, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	if _, err = workflow.NewRunner(graph, w.engine, workflow.Options{}); err == nil || !strings.Contains(err.Error(), "Clusters") {
		t.Errorf("the error is %v", err)
	}
}

// SPDX-License-Identifier: Apache-2.0

package dependent_test

import (
	"context"
	"errors"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/cluster"

	"github.com/espalier-dev/espalier/dependent"
	"github.com/espalier-dev/espalier/envtest"
	v1 "github.com/espalier-dev/espalier/examples/webapp/api/v1"
	"github.com/espalier-dev/espalier/workflow"
)

type (
	builder = *workflow.Builder[*v1.WebApp]
	run     = *workflow.Run[*v1.WebApp]
)

// operator is the field manager of the library in all tests; stranger is somebody else's.
const operator, stranger = "webapp-operator", "stranger"

func newScheme(tb testing.TB) *runtime.Scheme {
	tb.Helper()
	s := runtime.NewScheme()
	if err := errors.Join(scheme.AddToScheme(s), v1.AddToScheme(s), addGadgets(s), apiextensionsv1.AddToScheme(s)); err != nil {
		tb.Fatal(err)
	}
	return s
}

func primaryKind() schema.GroupVersionKind { return v1.GroupVersion().WithKind("WebApp") }

// deployment is a small one.
func deployment(name string) *appsv1.Deployment {
	labels := map[string]string{"app": name}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: appsv1.DeploymentSpec{
			Replicas: new(int32(2)), Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{Containers: []corev1.Container{{
					Name: "web", Image: "registry.example.com/web:1",
					Ports: []corev1.ContainerPort{{Name: "http", ContainerPort: 8080}},
					Env:   []corev1.EnvVar{{Name: "LEVEL", Value: "info"}, {Name: "EMPTY"}},
					Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
						corev1.ResourceCPU: resource.MustParse("100m"), corev1.ResourceMemory: resource.MustParse("128Mi"),
					}},
				}}},
			},
		},
	}
}

// world is a namespace as an operator sees it, through its cache, and as it is.
type world struct {
	cluster   cluster.Cluster
	engine    *dependent.Engine
	requests  *envtest.Requests // of the operator alone
	gate      *gate             // before its watches
	others    client.Client     // everybody else's, without a cache
	namespace string
	primary   *v1.WebApp
	clusters  func(name string) (dependent.Target, error)
}

// newWorld makes a new namespace with a primary in it, and an operator that knows nothing yet.
func newWorld(tb testing.TB, options ...cluster.Option) *world {
	tb.Helper()
	others, err := client.New(shared.get(tb).Config(), client.Options{Scheme: newScheme(tb)})
	if err != nil {
		tb.Fatal(err)
	}
	w := &world{others: client.WithFieldOwner(others, stranger), namespace: "test-" + rand.String(8)}
	w.create(tb, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.namespace}})
	w.primary = w.newPrimary(tb, "shop")
	w.start(tb, options...)
	return w
}

// restarted returns the same world with an operator that has just started.
func (w *world) restarted(tb testing.TB, options ...cluster.Option) *world {
	tb.Helper()
	next := &world{others: w.others, namespace: w.namespace, primary: w.primary, clusters: w.clusters}
	next.start(tb, options...)
	return next
}

// alone is an option of an operator that sees the world's namespace only.
func (w *world) alone(o *cluster.Options) {
	o.Cache.DefaultNamespaces = map[string]cache.Config{w.namespace: {}}
}

func (w *world) start(tb testing.TB, options ...cluster.Option) {
	tb.Helper()
	w.startAs(tb, shared.get(tb).Config(), options...)
}

// startAs starts the operator as the user of a configuration.
func (w *world) startAs(tb testing.TB, cfg *rest.Config, options ...cluster.Option) {
	tb.Helper()
	w.requests, w.gate = &envtest.Requests{}, newGate()
	cfg = w.requests.Wrap(cfg)
	cfg.Wrap(w.gate.wrap)
	var err error
	w.cluster, err = cluster.New(cfg, append([]cluster.Option{func(o *cluster.Options) {
		o.Scheme = newScheme(tb)
	}}, options...)...)
	if err != nil {
		tb.Fatal(err)
	}
	w.engine, err = dependent.NewEngine(w.cluster, dependent.EngineOptions{
		FieldManager: operator, Primary: primaryKind(), Clusters: w.clusters,
	})
	if err != nil {
		tb.Fatal(err)
	}
	starts(tb, w.cluster)
}

// starts runs a cluster until the test ends.
func starts(tb testing.TB, c cluster.Cluster) {
	tb.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- c.Start(ctx) }()
	tb.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			tb.Error(err)
		}
	})
	if !c.GetCache().WaitForCacheSync(ctx) {
		tb.Fatal("the cache hasn't started")
	}
}

// newPrimary makes another primary.
func (w *world) newPrimary(tb testing.TB, name string) *v1.WebApp {
	tb.Helper()
	app := &v1.WebApp{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: w.namespace}, Spec: v1.WebAppSpec{Image: "registry.example.com/shop:1"},
	}
	w.create(tb, app)
	return app
}

// runner binds a workflow that declare makes. Its caches have synced.
func (w *world) runner(tb testing.TB, declare func(b builder), options ...workflow.Options) *workflow.Runner[*v1.WebApp] {
	tb.Helper()
	b := workflow.NewBuilder[*v1.WebApp]("webapp")
	declare(b)
	graph, err := b.Build()
	if err != nil {
		tb.Fatal(err)
	}
	runner, err := workflow.NewRunner(graph, w.engine, append(options, workflow.Options{})[0])
	if err != nil {
		tb.Fatal(err)
	}
	if err := w.engine.WaitForSync(tb.Context()); err != nil {
		tb.Fatal(err)
	}
	return runner
}

// reconcile runs a graph and returns the row of the node called "node", with what was sent meanwhile.
func (w *world) reconcile(tb testing.TB, runner *workflow.Runner[*v1.WebApp]) (row workflow.NodeResult, sent map[string]int) {
	tb.Helper()
	sent = w.sends(func() { row = runner.Reconcile(tb.Context(), of(w.primary)).Node("node") })
	return row, sent
}

// cleanup is reconcile for a primary that is being deleted.
func (w *world) cleanup(tb testing.TB, runner *workflow.Runner[*v1.WebApp]) (row workflow.NodeResult, sent map[string]int) {
	tb.Helper()
	sent = w.sends(func() { row = runner.Cleanup(tb.Context(), of(w.primary)).Node("node") })
	return row, sent
}

// of is what a run for a primary is for.
func of(primary *v1.WebApp) workflow.Subject[*v1.WebApp] {
	return workflow.Subject[*v1.WebApp]{Primary: primary, ID: string(primary.UID), Revision: primary.Generation}
}

func (w *world) create(tb testing.TB, obj client.Object) {
	tb.Helper()
	if err := w.others.Create(tb.Context(), obj); err != nil {
		tb.Fatalf("creating %T %s: %v", obj, obj.GetName(), err)
	}
}

// read returns the object as it is.
func read[T any, PT dependent.ObjectOf[T]](tb testing.TB, w *world, name string) PT {
	tb.Helper()
	obj := PT(new(T))
	if err := w.others.Get(tb.Context(), client.ObjectKey{Namespace: w.namespace, Name: name}, obj); err != nil {
		tb.Fatal(err)
	}
	return obj
}

// patch changes an object as somebody else, and waits until the operator may know it.
func (w *world) patch(tb testing.TB, obj client.Object, patch string) {
	tb.Helper()
	if err := w.others.Patch(tb.Context(), obj, client.RawPatch(types.MergePatchType, []byte(patch))); err != nil {
		tb.Fatalf("patching %T %s with %s: %v", obj, obj.GetName(), patch, err)
	}
	w.sees(tb, obj)
}

// sees waits until the operator's cache shows this version of an object.
func (w *world) sees(tb testing.TB, obj client.Object) {
	tb.Helper()
	w.waits(tb, func(ctx context.Context) bool {
		seen, ok := obj.DeepCopyObject().(client.Object)
		return ok && w.cluster.GetCache().Get(ctx, client.ObjectKeyFromObject(obj), seen) == nil &&
			seen.GetResourceVersion() == obj.GetResourceVersion()
	}, "the cache doesn't show version %s of %T %s", obj.GetResourceVersion(), obj, obj.GetName())
}

// misses waits until the operator's cache shows an object no more.
func (w *world) misses(tb testing.TB, obj client.Object) {
	tb.Helper()
	w.waits(tb, func(ctx context.Context) bool {
		seen, ok := obj.DeepCopyObject().(client.Object)
		err := w.cluster.GetCache().Get(ctx, client.ObjectKeyFromObject(obj), seen)
		return ok && client.IgnoreNotFound(err) == nil && (err != nil || seen.GetUID() != obj.GetUID())
	}, "the cache still shows %T %s", obj, obj.GetName())
}

func (w *world) waits(tb testing.TB, until func(context.Context) bool, format string, args ...any) {
	tb.Helper()
	err := wait.PollUntilContextTimeout(tb.Context(), time.Millisecond, 20*time.Second, true,
		func(ctx context.Context) (bool, error) { return until(ctx), nil })
	if err != nil {
		tb.Fatalf(format, args...)
	}
}

// sends runs act and returns what the operator has sent meanwhile, but for watches.
func (w *world) sends(act func()) map[string]int {
	mark := w.requests.Mark()
	act()
	return w.requests.Since(mark).Where(func(q envtest.Request) bool { return q.Verb != "watch" }).Counts()
}

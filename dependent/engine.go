// SPDX-License-Identifier: Apache-2.0

package dependent

import (
	"cmp"
	"errors"
	"fmt"
	"hash/maphash"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/espalier-dev/espalier/internal/overlay"
)

// Target is one cluster, as the kinds of this package need it. A controller-runtime Manager or Cluster is one.
type Target interface {
	GetClient() client.Client
	GetAPIReader() client.Reader
	GetCache() cache.Cache
	GetConfig() *rest.Config
	GetHTTPClient() *http.Client
}

// EngineOptions say for whom an [Engine] works. The field manager and the primary's kind are required.
type EngineOptions struct {
	// FieldManager is the name under which fields are owned. It must stay the same for the life of the operator.
	FieldManager string
	// Primary is the kind of the primary.
	Primary schema.GroupVersionKind
	// Prefix begins the tracking labels; default "espalier.dev".
	Prefix string
	// FormerManagers are field managers of the operator before this one, or under which it ran before. What they own of
	// an object that the primary has becomes ours before its first apply, by one request, so that what isn't wanted any
	// more goes. Our own name is one of them where it has updated objects instead of applying them.
	FormerManagers []string
	// Clusters returns the cluster of this name, for nodes that are declared with InCluster. It is asked in every run,
	// so it must be quick. The cache of what it returns must run. An error says that the cluster can't be reached now:
	// then nothing is known of what is in it.
	Clusters func(name string) (Target, error)
}

// Engine is the environment that the kinds of this package bind to: a cluster, a field manager, and what is remembered
// of writes. There is one per controller. It is safe for concurrent use.
type Engine struct {
	target     Target
	options    EngineOptions
	namespaced bool         // the primary's scope
	seed       maphash.Seed // of all digests
	// patience is how long a cache may take to show an object, if its version doesn't tell.
	patience time.Duration
	// askAgain is after how long it is asked again whether a kind is served, if nothing tells.
	askAgain time.Duration
	overlay  overlay.Overlay

	mutex   sync.Mutex
	records map[types.UID]map[overlay.Key]record // by owner
	churns  map[types.UID]map[string]*churn      // by owner and instance
	sources map[sourceKey]*source
	singles sync.Map // of singleKey to *single

	lones    lones
	listener atomic.Pointer[listener]
	kinds    struct {
		sync.Mutex
		told map[Target]bool // where one is told which kinds come and go
	}
}

// NewEngine returns an Engine for one cluster.
func NewEngine(t Target, o EngineOptions) (*Engine, error) {
	o = o.withDefaults()
	var errs []error
	if o.FieldManager == "" {
		errs = append(errs, errors.New("EngineOptions.FieldManager is empty: name the controller"))
	}
	mapping, err := t.GetClient().RESTMapper().RESTMapping(o.Primary.GroupKind(), o.Primary.Version)
	if err != nil {
		errs = append(errs, fmt.Errorf("finding the scope of the primary, %s: %w", o.Primary.Kind, err))
	}
	if len(errs) > 0 {
		return nil, fmt.Errorf("making an engine: %w", errors.Join(errs...))
	}
	e := &Engine{
		target: t, options: o, seed: maphash.MakeSeed(), namespaced: mapping.Scope.Name() == meta.RESTScopeNameNamespace,
		patience: 30 * time.Second, askAgain: 30 * time.Second,
		records: map[types.UID]map[overlay.Key]record{},
		churns:  map[types.UID]map[string]*churn{},
		sources: map[sourceKey]*source{},
	}
	e.kinds.told = map[Target]bool{}
	return e, nil
}

// knowsCluster returns why nobody can say where a cluster is.
func (e *Engine) knowsCluster(name string) error {
	if name != "" && e.options.Clusters == nil {
		return fmt.Errorf("it is in cluster %q, but EngineOptions.Clusters is nil: say where that is", name)
	}
	return nil
}

// clusterOf returns the cluster of a name, which is the Engine's own if it is "".
func (e *Engine) clusterOf(name string) (Target, error) {
	if name == "" {
		return e.target, nil
	}
	target, err := e.options.Clusters(name)
	if err != nil {
		return nil, fmt.Errorf("reaching cluster %q: %w", name, err)
	}
	return target, nil
}

func (o EngineOptions) withDefaults() EngineOptions {
	o.Prefix = cmp.Or(o.Prefix, "espalier.dev")
	return o
}

// Forget drops what is remembered of a primary's objects, since it has gone.
func (e *Engine) Forget(owner types.UID) {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	for k := range e.records[owner] {
		e.overlay.Drop(k)
	}
	delete(e.records, owner)
	delete(e.churns, owner)
	for _, s := range e.sources {
		s.referrers.forget(owner)
	}
	e.lones.forget(owner)
}

func (e *Engine) recordOf(owner types.UID, k overlay.Key) record {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	return e.records[owner][k]
}

func (e *Engine) remember(owner types.UID, k overlay.Key, r record) {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	if e.records[owner] == nil {
		e.records[owner] = map[overlay.Key]record{}
	}
	e.records[owner][k] = r
}

// appeared takes back that nothing is left of what a node had before: its cache shows one more object.
func (e *Engine) appeared(obj client.Object) {
	t := e.read(obj)
	e.mutex.Lock()
	defer e.mutex.Unlock()
	for k, r := range e.records[t.owner] {
		if r.node == t.title() && r.uid != obj.GetUID() {
			r.pruned = false
			e.records[t.owner][k] = r
		}
	}
}

// disown forgets that an object was ours.
func (e *Engine) disown(owner types.UID, k overlay.Key) {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	delete(e.records[owner], k)
}

// all returns the sources of all kinds, in a stable order.
func (e *Engine) all() []*source {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	sources := slices.Collect(maps.Values(e.sources))
	slices.SortFunc(sources, func(a, b *source) int {
		return cmp.Or(strings.Compare(a.cluster, b.cluster), strings.Compare(a.gvk.String(), b.gvk.String()))
	})
	return sources
}

// written returns the sources of the kinds that some node writes.
func (e *Engine) written() []*source {
	return slices.DeleteFunc(e.all(), func(s *source) bool { return !s.writes.Load() })
}

// environment returns the Engine that a kind is bound to.
func environment(env any) (*Engine, error) {
	e, ok := env.(*Engine)
	if !ok {
		return nil, fmt.Errorf(
			"it needs a *dependent.Engine to run in, not a %T: use reconciler.New, or dependent.NewEngine", env)
	}
	return e, nil
}

func (e *Engine) kindOf(obj client.Object) (schema.GroupVersionKind, error) {
	gvk, err := apiutil.GVKForObject(obj, e.target.GetClient().Scheme())
	if err != nil {
		return gvk, fmt.Errorf("finding the kind of %T: %w: add its package's AddToScheme to the manager's scheme", obj, err)
	}
	return gvk, nil
}

// SPDX-License-Identifier: Apache-2.0

package dependent

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/espalier-dev/espalier/workflow"
)

// referrer is a node of a primary that refers to somebody else's objects.
type referrer struct {
	primary             types.UID
	workflow, node, key string
}

func referrerOf[P client.Object](r *workflow.Run[P]) referrer {
	return referrer{r.Primary().GetUID(), r.Workflow(), r.Node(), r.Key()}
}

// referred is what a referrer refers to: one object, or those that are selected.
type referred struct {
	name      types.NamespacedName
	namespace string
	labels    labels.Selector // nil for one object
}

// is reports whether two are the same.
func (d referred) is(other referred) bool {
	if d.name != other.name || d.namespace != other.namespace || (d.labels == nil) != (other.labels == nil) {
		return false
	}
	return d.labels == nil || d.labels.String() == other.labels.String()
}

func (d referred) selects(obj client.Object) bool {
	return (d.namespace == "" || d.namespace == obj.GetNamespace()) && d.labels.Matches(labels.Set(obj.GetLabels()))
}

// referrers are an index: who must be told of what.
type referrers struct {
	mutex     sync.Mutex
	to        map[referrer]referred
	byName    map[types.NamespacedName]map[referrer]bool
	selecting map[referrer]referred
}

// refer notes to what a referrer refers now.
func (s *source) refer(who referrer, to referred) {
	in := &s.referrers
	in.mutex.Lock()
	defer in.mutex.Unlock()
	if before, ok := in.to[who]; ok {
		if before.is(to) {
			return
		}
		in.drop(who)
	}
	if in.to == nil {
		in.to, in.selecting = map[referrer]referred{}, map[referrer]referred{}
		in.byName = map[types.NamespacedName]map[referrer]bool{}
	}
	in.to[who] = to
	if to.labels != nil {
		in.selecting[who] = to
		return
	}
	if in.byName[to.name] == nil {
		in.byName[to.name] = map[referrer]bool{}
	}
	in.byName[to.name][who] = true
}

// drop forgets a referrer.
func (in *referrers) drop(who referrer) {
	name := in.to[who].name
	delete(in.byName[name], who)
	if len(in.byName[name]) == 0 {
		delete(in.byName, name)
	}
	delete(in.selecting, who)
	delete(in.to, who)
}

// forget drops all referrers of a primary.
func (in *referrers) forget(primary types.UID) {
	in.mutex.Lock()
	defer in.mutex.Unlock()
	for _, who := range slices.Collect(maps.Keys(in.to)) {
		if who.primary == primary {
			in.drop(who)
		}
	}
}

// of returns the primaries that refer to an object.
func (in *referrers) of(obj client.Object) []types.UID {
	in.mutex.Lock()
	defer in.mutex.Unlock()
	found := map[types.UID]bool{}
	for who := range in.byName[client.ObjectKeyFromObject(obj)] {
		found[who.primary] = true
	}
	for who, to := range in.selecting {
		if to.selects(obj) {
			found[who.primary] = true
		}
	}
	return slices.Collect(maps.Keys(found))
}

// lookup reads one object for a referrer.
func (s *source) lookup(
	ctx context.Context, who referrer, key client.ObjectKey, home string,
) (client.Object, error) {
	switch {
	case !s.isNamespaced():
		key.Namespace = ""
	case key.Namespace == "":
		key.Namespace = home
	}
	s.refer(who, referred{name: key}) // before the read, so that no change is missed
	return s.get(ctx, key)
}

// selected returns what is selected, sorted by namespace and name.
func (s *source) selected(ctx context.Context, namespace string, selector labels.Selector) ([]client.Object, error) {
	now, err := s.ready(ctx)
	if err != nil {
		return nil, err
	}
	list := s.freshList()
	err = now.target.GetCache().List(ctx, list, client.InNamespace(namespace),
		client.MatchingLabelsSelector{Selector: selector}, client.UnsafeDisableDeepCopy)
	var found []client.Object
	if err == nil {
		err = meta.EachListItem(list, func(item runtime.Object) error {
			if obj, ok := item.(client.Object); ok {
				found = append(found, obj)
			}
			return nil
		})
	}
	if err != nil {
		return nil, fmt.Errorf("listing %s: %w", s.gvk.Kind, err)
	}
	slices.SortFunc(found, func(a, b client.Object) int {
		return cmp.Or(cmp.Compare(a.GetNamespace(), b.GetNamespace()), cmp.Compare(a.GetName(), b.GetName()))
	})
	return found, nil
}

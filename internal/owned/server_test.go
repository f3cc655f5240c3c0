// SPDX-License-Identifier: Apache-2.0

package owned_test

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apimachinery/pkg/util/managedfields/managedfieldstest"
	"k8s.io/client-go/applyconfigurations"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/yaml"

	"github.com/espalier-dev/espalier/internal/owned"
)

const us, them = "us", "them"

// server merges with the API server's own code, so that it can be asked what an apply would change. It holds one
// object. Between merging and storing it does what a server does: it sees the object through its Go type, which drops
// and normalises values, and fills in defaults.
type server struct {
	gvk     schema.GroupVersionKind
	manager *managedfields.FieldManager
	live    *unstructured.Unstructured
}

// newServer makes a server of a built-in kind; of any other kind nothing is known: its lists are atomic, its values
// plain JSON.
func newServer(gvk schema.GroupVersionKind) *server {
	converter := managedfields.NewDeducedTypeConverter()
	if scheme.Scheme.Recognizes(gvk) {
		converter = applyconfigurations.NewTypeConverter(scheme.Scheme)
	}
	s := &server{gvk: gvk, manager: managedfieldstest.NewFakeFieldManager(converter, gvk)}
	s.live = s.object(nil)
	return s
}

func (s *server) object(fields map[string]any) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: runtime.DeepCopyJSON(fields)}
	if u.Object == nil {
		u.Object = map[string]any{}
	}
	u.SetGroupVersionKind(s.gvk)
	return u
}

// apply sends an intent and reports whether it changed the object.
func (s *server) apply(manager string, intent map[string]any) (changed bool, err error) {
	out, err := s.manager.Apply(s.live.DeepCopy(), s.object(intent), manager, true)
	if err != nil {
		return false, err
	}
	return s.store(out)
}

// update replaces the object as an old-fashioned writer does.
func (s *server) update(manager string, change func(fields map[string]any)) error {
	next := s.live.DeepCopy()
	change(next.Object)
	out, err := s.manager.Update(s.live.DeepCopy(), next, manager)
	if err != nil {
		return err
	}
	_, err = s.store(out)
	return err
}

func (s *server) store(merged runtime.Object) (changed bool, err error) {
	u, ok := merged.DeepCopyObject().(*unstructured.Unstructured)
	if !ok {
		u = &unstructured.Unstructured{}
		if u.Object, err = runtime.DefaultUnstructuredConverter.ToUnstructured(merged); err != nil {
			return false, err
		}
	}
	managed := u.GetManagedFields()
	for i := range managed {
		managed[i].Time = nil
	}
	slices.SortFunc(managed, func(a, b metav1.ManagedFieldsEntry) int {
		return strings.Compare(a.Manager+string(a.Operation), b.Manager+string(b.Operation))
	})
	if u.Object, err = s.seen(u.Object, true); err != nil {
		return false, err
	}
	u.SetManagedFields(managed)
	changed = !reflect.DeepEqual(withoutManaged(s.live), withoutManaged(u)) || !s.entry(s.live).covers(s.entry(u))
	s.live = u
	return changed, nil
}

func withoutManaged(u *unstructured.Unstructured) map[string]any {
	u = u.DeepCopy()
	u.SetManagedFields(nil)
	return u.Object
}

// ownership is what we own of an object; nil if that is nothing.
type ownership struct{ *fieldpath.Set }

func (s *server) entry(u *unstructured.Unstructured) ownership {
	set, err := owned.Parse(owned.Entry(u.GetManagedFields(), us, "", s.gvk.GroupVersion().String()))
	if err != nil {
		return ownership{&fieldpath.Set{}}
	}
	return ownership{set}
}

// covers reports whether o and p are the same ownership, but for what is below something that o owns as a whole.
func (o ownership) covers(p ownership) bool {
	covered := true
	p.Iterate(func(path fieldpath.Path) {
		n := len(path)
		for n > 0 && !o.Has(path[:n]) {
			n--
		}
		covered = covered && n > 0
	})
	return covered && o.Difference(p.Set).Empty()
}

// seen brings fields into the form of the kind's Go type, and fills in the server's defaults.
func (s *server) seen(fields map[string]any, defaults bool) (map[string]any, error) {
	if !scheme.Scheme.Recognizes(s.gvk) {
		return fields, nil
	}
	text, err := json.Marshal(fields)
	if err != nil {
		return nil, err
	}
	typed, err := scheme.Scheme.New(s.gvk)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, typed); err != nil {
		return nil, err
	}
	if defaults {
		fillIn(typed)
	}
	return runtime.DefaultUnstructuredConverter.ToUnstructured(typed)
}

// fillIn is an excerpt from the defaults of built-in kinds, of each sort that matters here: of plain fields, of key
// fields of associative lists, and inside values that are owned as a whole.
func fillIn(obj runtime.Object) {
	switch obj := obj.(type) {
	case *appsv1.Deployment:
		if obj.Spec.Replicas == nil {
			obj.Spec.Replicas = new(int32(1))
		}
		for i := range obj.Spec.Template.Spec.Containers {
			fillInContainer(&obj.Spec.Template.Spec.Containers[i])
		}
	case *corev1.Service:
		for i := range obj.Spec.Ports {
			if p := &obj.Spec.Ports[i]; p.Protocol == "" {
				p.Protocol = corev1.ProtocolTCP
			}
		}
	}
}

func fillInContainer(c *corev1.Container) {
	c.TerminationMessagePath = "/dev/termination-log"
	for i := range c.Ports {
		if p := &c.Ports[i]; p.Protocol == "" {
			p.Protocol = corev1.ProtocolTCP
		}
	}
	for i := range c.Env {
		if from := c.Env[i].ValueFrom; from != nil && from.FieldRef != nil {
			from.FieldRef.APIVersion = "v1"
		}
	}
}

// judge is what the library makes of an intent and the live object.
func (s *server) judge(intent map[string]any) (bool, error) {
	entry := owned.Entry(s.live.GetManagedFields(), us, "", s.gvk.GroupVersion().String())
	if entry == nil {
		return false, nil
	}
	set, err := owned.Parse(entry)
	if err != nil {
		return false, err
	}
	sent := s.object(intent).Object
	want, err := s.seen(sent, false)
	if err != nil {
		return false, err
	}
	return owned.Comparison{Sent: sent, Want: want, Have: s.live.Object}.Unchanged(set), nil
}

// fields decodes an object in YAML.
func fields(text string) (map[string]any, error) {
	plain, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		return nil, err
	}
	out := map[string]any{}
	err = utiljson.Unmarshal(plain, &out)
	return out, err
}

// merge puts a JSON merge patch over fields, as an old-fashioned writer would.
func merge(into, patch map[string]any) {
	for k, v := range patch {
		below, ok := v.(map[string]any)
		old, isMap := into[k].(map[string]any)
		switch {
		case v == nil:
			delete(into, k)
		case ok && isMap:
			old = maps.Clone(old)
			merge(old, below)
			into[k] = old
		default:
			into[k] = v
		}
	}
}

// SPDX-License-Identifier: Apache-2.0

package envtest_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// The tests of this file prove what the library takes for granted about the API server, so that a new version of the
// platform can't change it silently.

// applied is a kind of object as it is applied.
type applied struct {
	name string
	// object gives the fields beside metadata; same says it differently, other differs.
	object, same, other string
	empty               func() client.Object
}

func appliedKinds() []applied {
	const deployment = `{"apiVersion":"apps/v1","kind":"Deployment","spec":{"replicas":%d,` +
		`"selector":{"matchLabels":{"app":"a"}},"template":{"metadata":{"labels":{"app":"a"}},` +
		`"spec":{"containers":[{"name":"main","image":"example.com/main","resources":{"requests":{"cpu":%q}}}]}}}}`
	return []applied{
		{
			name:   "ConfigMap",
			object: `{"apiVersion":"v1","kind":"ConfigMap","data":{"a":"1"}}`,
			same:   `{"kind":"ConfigMap","data":{"a":"1"},"apiVersion":"v1"}`,
			other:  `{"apiVersion":"v1","kind":"ConfigMap","data":{"a":"2"}}`,
			empty:  func() client.Object { return &corev1.ConfigMap{} },
		},
		{
			name:   "Deployment",
			object: fmt.Sprintf(deployment, 1, "500m"),
			same:   fmt.Sprintf(deployment, 1, "0.5"),
			other:  fmt.Sprintf(deployment, 2, "500m"),
			empty:  func() client.Object { return &appsv1.Deployment{} },
		},
		{
			name:   "Service",
			object: `{"apiVersion":"v1","kind":"Service","spec":{"ports":[{"port":80}]}}`,
			same:   `{"apiVersion":"v1","kind":"Service","spec":{"ports":[{"port":80}]}}`,
			other:  `{"apiVersion":"v1","kind":"Service","spec":{"ports":[{"port":81}]}}`,
			empty:  func() client.Object { return &corev1.Service{} },
		},
		{
			name:   "Secret",
			object: `{"apiVersion":"v1","kind":"Secret","data":{"a":"YQ=="}}`,
			same:   `{"apiVersion":"v1","kind":"Secret","data":{"a":"YQ=="}}`,
			other:  `{"apiVersion":"v1","kind":"Secret","data":{"a":"Yg=="}}`,
			empty:  func() client.Object { return &corev1.Secret{} },
		},
		{
			name:   "custom resource",
			object: `{"apiVersion":"test.espalier.dev/v1","kind":"Widget","spec":{"size":1}}`,
			same:   `{"apiVersion":"test.espalier.dev/v1","kind":"Widget","spec":{"size":1}}`,
			other:  `{"apiVersion":"test.espalier.dev/v1","kind":"Widget","spec":{"size":2}}`,
			empty:  func() client.Object { return newWidget("", "") },
		},
	}
}

// patcher applies to one object.
type patcher struct {
	client  client.Client
	key     client.ObjectKey
	manager string
}

func newPatcher(t *testing.T) *patcher {
	t.Helper()
	c := newClient(t, shared.core.get(t).Config())
	return &patcher{client: c, key: client.ObjectKey{Namespace: newNamespace(t, c), Name: "a"}, manager: "contract"}
}

// body completes the object with its name and the given metadata.
func (p *patcher) body(t *testing.T, object string, metadata map[string]any) client.Patch {
	t.Helper()
	var fields map[string]any
	if err := json.Unmarshal([]byte(object), &fields); err != nil {
		t.Fatal(err)
	}
	all := map[string]any{"namespace": p.key.Namespace, "name": p.key.Name}
	maps.Copy(all, metadata)
	fields["metadata"] = all
	body, err := json.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	return client.RawPatch(types.ApplyPatchType, body)
}

// named gives the object the patcher's name.
func (p *patcher) named(object client.Object) client.Object {
	object.SetNamespace(p.key.Namespace)
	object.SetName(p.key.Name)
	return object
}

// apply patches and returns the answer, decoded into a new object.
func (p *patcher) apply(t *testing.T, kind applied, object string, metadata map[string]any) (client.Object, error) {
	t.Helper()
	answer := p.named(kind.empty())
	err := p.client.Patch(t.Context(), answer, p.body(t, object, metadata),
		client.FieldOwner(p.manager), client.ForceOwnership)
	return answer, err
}

// applyStatus patches the status subresource.
func (p *patcher) applyStatus(t *testing.T, object *unstructured.Unstructured, conditions ...string) error {
	t.Helper()
	list := []any{}
	for _, condition := range conditions {
		list = append(list, map[string]any{"type": condition, "status": "True"})
	}
	status, err := json.Marshal(map[string]any{
		"apiVersion": object.GetAPIVersion(), "kind": object.GetKind(), "status": map[string]any{"conditions": list},
	})
	if err != nil {
		t.Fatal(err)
	}
	return p.client.Status().Patch(t.Context(), p.named(object), p.body(t, string(status), nil),
		client.FieldOwner(p.manager), client.ForceOwnership)
}

// code is the HTTP status of an error, 0 if it has none.
func code(err error) int {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return 0
	}
	return int(status.Status().Code)
}

func TestContractResourceVersionOneCreatesOnly(t *testing.T) { // R33
	for _, kind := range appliedKinds() {
		t.Run(kind.name, func(t *testing.T) {
			g := NewWithT(t)
			p := newPatcher(t)
			createOnly := map[string]any{"resourceVersion": "1"}
			created, err := p.apply(t, kind, kind.object, createOnly)
			g.Expect(err).NotTo(HaveOccurred())
			for _, object := range []string{kind.object, kind.other} {
				_, err = p.apply(t, kind, object, createOnly)
				g.Expect(code(err)).To(Equal(409), "%v", err)
			}
			live := kind.empty()
			g.Expect(p.client.Get(t.Context(), p.key, live)).To(Succeed())
			g.Expect(live.GetResourceVersion()).To(Equal(created.GetResourceVersion()))
		})
	}
}

func TestContractUIDProtects(t *testing.T) { // R33
	const otherUID = "00000000-0000-4000-8000-000000000000"
	for _, kind := range appliedKinds() {
		t.Run(kind.name, func(t *testing.T) {
			g := NewWithT(t)
			p := newPatcher(t)
			_, err := p.apply(t, kind, kind.object, map[string]any{"uid": otherUID})
			g.Expect(code(err)).To(Equal(409), "%v", err)
			err = p.client.Get(t.Context(), p.key, kind.empty())
			g.Expect(code(err)).To(Equal(404), "%v", err)

			created, err := p.apply(t, kind, kind.object, nil)
			g.Expect(err).NotTo(HaveOccurred())
			_, err = p.apply(t, kind, kind.other, map[string]any{"uid": otherUID})
			g.Expect(code(err)).To(Equal(422), "%v", err)
			_, err = p.apply(t, kind, kind.other, map[string]any{"uid": string(created.GetUID())})
			g.Expect(err).NotTo(HaveOccurred())
		})
	}
}

func TestContractNoOpApplyLeavesResourceVersion(t *testing.T) { // R31
	patchers := map[string]*patcher{}
	first := map[string]client.Object{}
	var latest time.Time
	for _, kind := range appliedKinds() {
		p := newPatcher(t)
		answer, err := p.apply(t, kind, kind.object, nil)
		if err != nil {
			t.Fatal(err)
		}
		patchers[kind.name], first[kind.name], latest = p, answer, answer.GetManagedFields()[0].Time.Time
	}
	// managedFields has times in seconds: let one pass, so that it would show.
	NewWithT(t).Eventually(t.Context(), time.Now).Should(BeTemporally(">", latest.Add(time.Second)))
	for _, kind := range appliedKinds() {
		t.Run(kind.name, func(t *testing.T) {
			g := NewWithT(t)
			p := patchers[kind.name]
			for _, object := range []string{kind.object, kind.same} {
				answer, err := p.apply(t, kind, object, nil)
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(answer.GetResourceVersion()).To(Equal(first[kind.name].GetResourceVersion()))
			}
			answer, err := p.apply(t, kind, kind.other, nil)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(answer.GetResourceVersion()).NotTo(Equal(first[kind.name].GetResourceVersion()))
		})
	}
}

func TestContractAnswerCarriesManagedFields(t *testing.T) { // R30
	for _, kind := range appliedKinds() {
		t.Run(kind.name, func(t *testing.T) {
			g := NewWithT(t)
			p := newPatcher(t)
			answer, err := p.apply(t, kind, kind.object, nil)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(answer.GetUID()).NotTo(BeEmpty())
			entries := answer.GetManagedFields()
			g.Expect(entries).To(HaveLen(1))
			g.Expect(string(entries[0].Operation)).To(Equal("Apply"))
			g.Expect(entries[0].Manager).To(Equal(p.manager))
			g.Expect(entries[0].FieldsV1.GetRawString()).NotTo(BeEmpty())
		})
	}
}

func TestContractNoFinalizerWhileTerminating(t *testing.T) { // R61
	for _, kind := range appliedKinds() {
		t.Run(kind.name, func(t *testing.T) {
			g := NewWithT(t)
			p := newPatcher(t)
			first := []any{"test.espalier.dev/first"}
			object, err := p.apply(t, kind, kind.object, map[string]any{"finalizers": first})
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(p.client.Delete(t.Context(), object)).To(Succeed())

			both := append(first, "test.espalier.dev/second")
			_, err = p.apply(t, kind, kind.object, map[string]any{"finalizers": both})
			g.Expect(code(err)).To(Equal(422), "%v", err)
			_, err = p.apply(t, kind, kind.other, map[string]any{"finalizers": first})
			g.Expect(err).NotTo(HaveOccurred(), "other changes pass")
			_, err = p.apply(t, kind, kind.other, nil)
			g.Expect(err).NotTo(HaveOccurred(), "leaving the finalizer out removes it")
			err = p.client.Get(t.Context(), p.key, kind.empty())
			g.Expect(code(err)).To(Equal(404), "%v", err)
		})
	}
}

func TestContractStatusApplyAndForeignConditions(t *testing.T) { // R62
	tests := []struct {
		name  string
		empty func(namespace, name string) *unstructured.Unstructured
		want  []string
	}{
		{name: "listType=map keeps them", empty: newWidget, want: []string{"Foreign", "Ready"}},
		{name: "an atomic list loses them", empty: newGadget, want: []string{"Ready"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g := NewWithT(t)
			p := newPatcher(t)
			object := tt.empty(p.key.Namespace, p.key.Name)
			g.Expect(p.client.Create(t.Context(), object)).To(Succeed())
			p.manager = "foreign"
			g.Expect(p.applyStatus(t, tt.empty("", ""), "Foreign")).To(Succeed())
			p.manager = "ours"
			g.Expect(p.applyStatus(t, tt.empty("", ""), "Ready")).To(Succeed())

			g.Expect(p.client.Get(t.Context(), p.key, object)).To(Succeed())
			conditions, _, err := unstructured.NestedSlice(object.Object, "status", "conditions")
			g.Expect(err).NotTo(HaveOccurred())
			var got []string
			for _, condition := range conditions {
				got = append(got, fmt.Sprint(condition.(map[string]any)["type"]))
			}
			g.Expect(got).To(ConsistOf(tt.want))
		})
	}
}

func TestContractStatusApplyOfAMissingObject(t *testing.T) { // R62
	p := newPatcher(t)
	err := p.applyStatus(t, newWidget("", ""), "Ready")
	g := NewWithT(t)
	g.Expect(code(err)).To(Equal(404), "%v", err)
	err = p.client.Get(t.Context(), p.key, newWidget("", ""))
	g.Expect(code(err)).To(Equal(404), "%v", err)
}

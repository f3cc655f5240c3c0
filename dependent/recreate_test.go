// SPDX-License-Identifier: Apache-2.0

package dependent_test

import (
	"errors"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/espalier-dev/espalier/dependent"
	v1 "github.com/espalier-dev/espalier/examples/webapp/api/v1"
	"github.com/espalier-dev/espalier/workflow"
)

// change is one of a field that a kind doesn't let change.
type change struct{ from, to, field string }

// changes tries a change with each policy.
func changes[T any, PT dependent.ObjectOf[T]](t *testing.T, c change) {
	t.Helper()
	for _, policy := range []dependent.Recreation{dependent.Never, dependent.WhenImmutable} {
		w, intent := newWorld(t), c.from
		declare := func(b builder) {
			dependent.Typed[T, PT](b, "node", func(run) (*T, error) {
				obj := new(T)
				if err := yaml.UnmarshalStrict([]byte(intent), obj); err != nil {
					return nil, err
				}
				PT(obj).SetName(w.namespace + "-node")
				return obj, nil
			}).Recreate(policy).DeletesData().Propagation(metav1.DeletePropagationBackground)
		}
		runner := w.runner(t, declare)
		row, _ := w.reconcile(t, runner)
		if row.Operation != workflow.Create {
			t.Fatalf("got %+v", row)
		}
		there := func() PT {
			obj := PT(new(T))
			obj.SetName(w.namespace + "-node")
			if namespaced, err := w.others.IsObjectNamespaced(obj); err != nil {
				t.Fatal(err)
			} else if namespaced {
				obj.SetNamespace(w.namespace)
			}
			if err := w.others.Get(t.Context(), client.ObjectKeyFromObject(obj), obj); err != nil {
				t.Fatal(err)
			}
			return obj
		}
		before := there()
		w.sees(t, before)
		intent = c.to
		row, _ = w.reconcile(t, runner)
		if policy == dependent.Never {
			if wantRow(t, row, workflow.Failed, "Immutable"); !strings.Contains(row.Message, c.field) {
				t.Errorf("the message doesn't name %s: %s", c.field, row.Message)
			}
			_, sent := w.reconcile(t, runner)
			wantSent(t, sent)
			if after := there(); after.GetResourceVersion() != before.GetResourceVersion() {
				t.Error("the object was changed")
			}
			continue
		}
		if wantRow(t, row, workflow.Waiting, "Recreating"); row.Operation != workflow.Recreate {
			t.Errorf("the operation is %q", row.Operation)
		}
		free := []byte(`{"metadata": {"finalizers": null}}`) // of those that the server puts on
		patched := PT(new(T))
		patched.SetName(before.GetName())
		patched.SetNamespace(before.GetNamespace())
		if err := w.others.Patch(t.Context(), patched, client.RawPatch("application/merge-patch+json", free)); client.IgnoreNotFound(err) != nil {
			t.Fatal(err)
		}
		w.misses(t, before)
		row, _ = w.reconcile(t, runner)
		if row.Operation != workflow.Create {
			t.Errorf("got %+v", row)
		}
		if after := there(); after.GetUID() == before.GetUID() {
			t.Error("the object wasn't made anew")
		}
		_, sent := w.reconcile(t, runner)
		wantSent(t, sent)
	}
}

func TestImmutableFields(t *testing.T) { // R35 G1 G2
	pods := func(app string) string {
		return `selector: {matchLabels: {app: ` + app + `}}, template: {metadata: {labels: {app: ` + app + `}},
			spec: {containers: [{name: a, image: "a:1"}]}}`
	}
	job := func(image string) string {
		return `{spec: {template: {spec: {restartPolicy: Never, containers: [{name: a, image: "` + image + `"}]}}}}`
	}
	claim := func(class string) string {
		return `{spec: {accessModes: [ReadWriteOnce], storageClassName: ` + class + `, resources: {requests: {storage: 1Gi}}}}`
	}
	ref := func(name string) string {
		return `{roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: ` + name + `}}`
	}
	for _, test := range []struct {
		name string
		try  func(*testing.T, change)
		change
	}{
		{"deployment", changes[appsv1.Deployment], change{`{spec: {` + pods("a") + `}}`, `{spec: {` + pods("b") + `}}`, "spec.selector"}},
		{"statefulset", changes[appsv1.StatefulSet], change{
			`{spec: {serviceName: a, ` + pods("a") + `}}`, `{spec: {serviceName: b, ` + pods("a") + `}}`, "spec",
		}},
		{"job", changes[batchv1.Job], change{job("a:1"), job("a:2"), "spec.template"}},
		{"persistentvolumeclaim", changes[corev1.PersistentVolumeClaim], change{claim("a"), claim("b"), "spec"}},
		{"secret", changes[corev1.Secret], change{`{type: a/b, data: {a: YQ==}}`, `{type: a/c, data: {a: YQ==}}`, "type"}},
		{"configmap", changes[corev1.ConfigMap], change{
			`{immutable: true, data: {a: b}}`, `{immutable: true, data: {a: c}}`, "data",
		}},
		{"rolebinding", changes[rbacv1.RoleBinding], change{ref("view"), ref("edit"), "roleRef"}},
		{"service", changes[corev1.Service], change{
			`{spec: {selector: {a: b}, ports: [{port: 80}]}}`, `{spec: {clusterIP: None, selector: {a: b}, ports: [{port: 80}]}}`,
			"spec.clusterIP",
		}},
		{"custom resource", changes[Gadget], change{`{spec: {seal: a}}`, `{spec: {seal: b}}`, "spec.seal"}},
		{"priorityclass", changes[schedulingv1.PriorityClass], change{`{value: 1}`, `{value: 2}`, "value"}},
		{"storageclass", changes[storagev1.StorageClass], change{
			`{provisioner: example.com/a, parameters: {a: b}}`, `{provisioner: example.com/a, parameters: {a: c}}`, "parameters",
		}},
		{"pod", changes[corev1.Pod], change{
			`{spec: {containers: [{name: a, image: "a:1", command: [a]}]}}`,
			`{spec: {containers: [{name: a, image: "a:1", command: [b]}]}}`, "spec",
		}},
	} {
		t.Run(test.name, func(t *testing.T) { test.try(t, test.change) })
	}
}

// What is invalid anyway deletes nothing, also if something else of it is immutable.
func TestInvalidAndImmutable(t *testing.T) { // R35 G3
	w, selector, policy := newWorld(t), "a", corev1.RestartPolicyAlways
	runner := w.runner(t, func(b builder) {
		dependent.Typed(b, "node", func(run) (*appsv1.Deployment, error) {
			d := deployment("web")
			d.Spec.Selector.MatchLabels = map[string]string{"app": selector}
			d.Spec.Template.Labels = map[string]string{"app": selector}
			d.Spec.Template.Spec.RestartPolicy = policy
			return d, nil
		}).Recreate(dependent.WhenImmutable)
	})
	w.reconcile(t, runner)
	before := read[appsv1.Deployment](t, w, "web")
	w.sees(t, before)
	selector, policy = "b", corev1.RestartPolicyNever
	row, sent := w.reconcile(t, runner)
	wantRow(t, row, workflow.Failed, "Invalid")
	wantSent(t, sent, "apply deployments.apps")
	if after := read[appsv1.Deployment](t, w, "web"); after.UID != before.UID || after.DeletionTimestamp != nil {
		t.Error("the deployment was deleted for a state that nobody can have")
	}
}

// What holds data, what is to be kept and what was adopted isn't deleted to be made anew.
func TestRecreateKeeps(t *testing.T) { // R35 R40 G5
	for name, refine := range map[string]func(*dependent.Object[*v1.WebApp, *corev1.ConfigMap]){
		"orphan":  func(n *dependent.Object[*v1.WebApp, *corev1.ConfigMap]) { n.WhenUnwanted(dependent.Orphan) },
		"protect": func(n *dependent.Object[*v1.WebApp, *corev1.ConfigMap]) { n.WhenUnwanted(dependent.Protect) },
		"adopted": func(n *dependent.Object[*v1.WebApp, *corev1.ConfigMap]) { n.Adopt(dependent.IfUnowned) },
	} {
		t.Run(name, func(t *testing.T) {
			w, data := newWorld(t), "1"
			if name == "adopted" {
				w.create(t, configMap(w.namespace, "settings"))
			}
			runner := w.runner(t, func(b builder) {
				refine(dependent.Typed(b, "node", func(run) (*corev1.ConfigMap, error) {
					c := configMap("", "settings")
					c.Data, c.Immutable = map[string]string{"a": data}, new(true)
					return c, nil
				}).Recreate(dependent.WhenImmutable))
			})
			row, _ := w.reconcile(t, runner)
			wantRow(t, row, workflow.Ready, "")
			w.sees(t, read[corev1.ConfigMap](t, w, "settings"))
			data = "2"
			row, _ = w.reconcile(t, runner)
			wantRow(t, row, workflow.Failed, "Immutable")
			if !w.exists(t, configMap("", "settings")) {
				t.Error("it was deleted")
			}
		})
	}
}

// Declared paths: what looks different but isn't deletes nothing, what differs does, and all else is changed in place.
func TestRecreateOn(t *testing.T) { // R35
	w, n := newWorld(t), &Gadget{ObjectMeta: metav1.ObjectMeta{Name: "gadget"}}
	n.Spec.Mode, n.Spec.Steps = "slow", []string{"a"}
	n.Spec.Size.Set(1)
	declare := func(b builder) {
		dependent.Typed(b, "node", func(run) (*Gadget, error) { return copied(n), nil }).
			Recreate(dependent.WhenImmutable).RecreateOn("spec.mode", "spec.size")
	}
	runner := w.runner(t, declare)
	w.reconcile(t, runner)
	before := read[Gadget](t, w, "gadget")
	w.sees(t, before)
	n.Spec.Steps = []string{"b"}
	row, sent := w.reconcile(t, runner)
	wantRow(t, row, workflow.Ready, "")
	wantSent(t, sent, "apply gadgets.test.espalier.dev")
	n.Spec.Mode = "fast"
	w.sees(t, read[Gadget](t, w, "gadget"))
	row, sent = w.reconcile(t, runner)
	wantRow(t, row, workflow.Waiting, "Recreating")
	wantSent(t, sent, "apply gadgets.test.espalier.dev", "delete gadgets.test.espalier.dev")
	w.misses(t, before)
	row, _ = w.reconcile(t, runner)
	wantRow(t, row, workflow.Ready, "")
	if after := read[Gadget](t, w, "gadget"); after.UID == before.UID || after.Spec.Mode != "fast" {
		t.Errorf("it wasn't made anew: %+v", after)
	}
}

// A restart never recreates: what the server has completed isn't taken for a change.
func TestRestartRecreatesNothing(t *testing.T) { // R35 R31
	w := newWorld(t)
	declare := func(b builder) {
		dependent.Typed(b, "node", func(run) (*appsv1.Deployment, error) { return deployment("web"), nil }).
			Recreate(dependent.WhenImmutable).RecreateOn("spec.template", "spec.selector")
	}
	runner := w.runner(t, declare)
	w.reconcile(t, runner)
	before := read[appsv1.Deployment](t, w, "web")
	w = w.restarted(t)
	runner = w.runner(t, declare)
	row, _ := w.reconcile(t, runner)
	wantRow(t, row, workflow.NotReady, "Progressing")
	web := read[appsv1.Deployment](t, w, "web")
	if web.UID != before.UID {
		t.Error("it was made anew")
	}
	w.patch(t, web, `{"metadata": {"labels": {"espalier.dev/node": "x"}}}`) // something else that must be written
	row, _ = w.reconcile(t, runner)
	if row.Err != nil && row.Reason != "ClaimedBy" {
		t.Error(row.Err)
	}
	if after := read[appsv1.Deployment](t, w, "web"); after.UID != before.UID {
		t.Error("it was made anew")
	}
}

func TestRecreateIsChecked(t *testing.T) {
	w := newWorld(t)
	b := workflow.NewBuilder[*v1.WebApp]("webapp")
	dependent.Typed(b, "a", func(run) (*corev1.ConfigMap, error) { return nil, errors.New("not reached") }).
		Recreate(9).RecreateOn("spec..x")
	dependent.Generate[corev1.Secret](b, "b", nil).Recreate(dependent.ContentNamed)
	graph, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	_, err = workflow.NewRunner(graph, w.engine, workflow.Options{})
	for _, part := range []string{"Recreate(9)", "spec..x", "ContentNamed"} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("the error doesn't name %s: %v", part, err)
		}
	}
}

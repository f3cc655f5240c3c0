// SPDX-License-Identifier: Apache-2.0

package owned_test

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var (
	configMaps  = corev1.SchemeGroupVersion.WithKind("ConfigMap")
	services    = corev1.SchemeGroupVersion.WithKind("Service")
	deployments = appsv1.SchemeGroupVersion.WithKind("Deployment")
	gadgets     = schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Gadget"}
)

// The server is asked what it makes of each intent: a verdict of the walk that isn't the server's is wanted only where
// the case says that there is a doubt.
func TestUnchanged(t *testing.T) { // R31
	tests := []struct {
		name   string
		kind   schema.GroupVersionKind
		before string // what we apply first
		theirs string // what somebody else then updates, as a merge patch
		intent string // what we want afterwards; empty: the same
		change bool   // the intent would change the object
		doubt  bool   // it wouldn't, but that can't be seen without the server
	}{
		{name: "the same", kind: configMaps, before: `data: {a: "1", b: "2"}`},
		{name: "a value", kind: configMaps, before: `data: {a: "1"}`, intent: `data: {a: "2"}`, change: true},
		{name: "an added field", kind: configMaps, before: `data: {a: "1"}`, intent: `data: {a: "1", b: "2"}`, change: true},
		{name: "a removed field", kind: configMaps, before: `data: {a: "1", b: "2"}`, intent: `data: {a: "1"}`, change: true},
		{name: "all fields removed", kind: configMaps, before: `data: {a: "1"}`, intent: `{}`, change: true},
		{name: "nothing", kind: configMaps, before: `{}`, doubt: true},
		{name: "an empty value", kind: configMaps, before: `data: {a: ""}`},
		{name: "a value that isn't a number", kind: configMaps, before: `data: {a: 1000m}`, intent: `data: {a: "1"}`, change: true},
		{name: "foreign drift", kind: configMaps, before: `data: {a: "1"}`, theirs: `data: {a: "2"}`, change: true},
		{name: "foreign removal", kind: configMaps, before: `data: {a: "1"}`, theirs: `data: {a: null}`, change: true},
		{name: "a foreign extra field", kind: configMaps, before: `data: {a: "1"}`, theirs: `data: {b: "2"}`},
		{name: "a foreign label", kind: configMaps, before: `metadata: {labels: {a: b}}`, theirs: `metadata: {labels: {c: d}}`},
		{
			name: "identity isn't owned", kind: configMaps,
			before: `{metadata: {name: c, namespace: d}, data: {a: "1"}}`,
		},
		{name: "a label", kind: configMaps, before: `metadata: {labels: {a: b}}`, intent: `metadata: {labels: {a: c}}`, change: true},
		{name: "an empty label", kind: configMaps, before: `metadata: {labels: {a: ""}}`}, // E12
		{name: "a set", kind: configMaps, before: `metadata: {finalizers: [a.b/c, d.e/f]}`},
		{name: "a foreign element of a set", kind: configMaps, before: `metadata: {finalizers: [a.b/c]}`, theirs: `metadata: {finalizers: [x.y/z, a.b/c]}`},
		{name: "an element added to a set", kind: configMaps, before: `metadata: {finalizers: [a.b/c]}`, intent: `metadata: {finalizers: [a.b/c, d.e/f]}`, change: true},
		{name: "an element removed from a set", kind: configMaps, before: `metadata: {finalizers: [a.b/c, d.e/f]}`, intent: `metadata: {finalizers: [a.b/c]}`, change: true},
		{name: "the order of a set", kind: configMaps, before: `metadata: {finalizers: [a.b/c, d.e/f]}`, intent: `metadata: {finalizers: [d.e/f, a.b/c]}`, change: true},

		{name: "a defaulted key field", kind: services, before: `spec: {ports: [{name: a, port: 80}, {name: b, port: 81}]}`}, // E2
		{name: "a key field that is given", kind: services, before: `spec: {ports: [{port: 53, protocol: UDP}, {port: 53, protocol: TCP}]}`},
		{name: "a defaulted key field beside its twin", kind: services, before: `spec: {ports: [{name: t, port: 53}, {name: u, port: 53, protocol: UDP}]}`, doubt: true},
		{name: "a key field", kind: services, before: `spec: {ports: [{port: 80}]}`, intent: `spec: {ports: [{port: 81}]}`, change: true},
		{name: "a target port of zero", kind: services, before: `spec: {ports: [{port: 80, targetPort: 0}]}`},
		{name: "a target port's type", kind: services, before: `spec: {ports: [{port: 80, targetPort: 80}]}`, intent: `spec: {ports: [{port: 80, targetPort: "80"}]}`, change: true},
		{name: "a map that is owned as a whole", kind: services, before: `spec: {selector: {a: b}}`, theirs: `spec: {selector: {c: d}}`, change: true},

		{name: "a quantity in another form", kind: deployments, before: pod(`resources: {limits: {cpu: 500m}}`), intent: pod(`resources: {limits: {cpu: "0.5"}}`)}, // E3
		{name: "a quantity", kind: deployments, before: pod(`resources: {limits: {cpu: 500m}}`), intent: pod(`resources: {limits: {cpu: 501m}}`), change: true},
		{name: "a quantity of zero", kind: deployments, before: pod(`resources: {limits: {cpu: 0}}`)},
		{name: "an environment variable without a value", kind: deployments, before: pod(`env: [{name: A, value: ""}]`)}, // E15 E20
		{name: "an environment variable that gets none", kind: deployments, before: pod(`env: [{name: A, value: b}]`), intent: pod(`env: [{name: A, value: ""}]`), change: true},
		{name: "an environment variable that gets one", kind: deployments, before: pod(`env: [{name: A, value: ""}]`), intent: pod(`env: [{name: A, value: b}]`), change: true},
		{name: "the order of environment variables", kind: deployments, before: pod(`env: [{name: A, value: a}, {name: B, value: $(A)}]`), intent: pod(`env: [{name: B, value: $(A)}, {name: A, value: a}]`), change: true},
		{
			name: "foreign items between ours", kind: deployments, before: pod(`env: [{name: A}, {name: B}]`),
			theirs: pod(`env: [{name: X}, {name: A}, {name: Z}, {name: B}]`),
		},
		{
			name: "our items in another order", kind: deployments, before: pod(`env: [{name: A}, {name: B}]`),
			theirs: pod(`env: [{name: B}, {name: A}]`), change: true,
		},
		{
			name: "an item that is there twice", kind: deployments, before: pod(`env: [{name: A, value: "1"}]`),
			theirs: pod(`env: [{name: A, value: "1"}, {name: A, value: "2"}]`), change: true,
		},
		{name: "the order of a list that is owned as a whole", kind: deployments, before: pod(`args: [a, b]`), intent: pod(`args: [b, a]`), change: true},
		{name: "an item removed", kind: deployments, before: pod(`env: [{name: A}, {name: B}]`), intent: pod(`env: [{name: A}]`), change: true},
		{name: "an item added", kind: deployments, before: pod(`env: [{name: A}]`), intent: pod(`env: [{name: A}, {name: B}]`), change: true},
		{name: "an empty struct that is set", kind: deployments, before: pod(`volumeMounts: [{name: a, mountPath: /a}]`) + "      volumes: [{name: a, emptyDir: {}}]\n"},
		{name: "an empty list", kind: deployments, before: pod(`args: []`)},
		{name: "an empty map", kind: deployments, before: `{metadata: {annotations: {}}}`},
		{name: "a list that becomes empty", kind: deployments, before: pod(`args: [a]`), intent: pod(`args: []`), change: true},
		{name: "a default inside a value that is owned as a whole", kind: deployments, before: pod(`env: [{name: A, valueFrom: {fieldRef: {fieldPath: metadata.name}}}]`), doubt: true},
		{name: "replicas that are somebody else's", kind: deployments, before: pod(`image: i`), theirs: `spec: {replicas: 5}`},
		{name: "replicas of zero", kind: deployments, before: `spec: {replicas: 0}`},
		{name: "replicas given up", kind: deployments, before: `spec: {replicas: 2}`, intent: `spec: {}`, change: true},
		{name: "null", kind: deployments, before: `spec: {replicas: null}`, doubt: true},

		{name: "any JSON", kind: gadgets, before: `spec: {a: 1, b: 1.5, c: true, d: x, e: [1, [2, {f: 3}]], g: {h: {}}}`},
		{name: "a number's kind", kind: gadgets, before: `spec: {a: 1}`, intent: `spec: {a: 1.5}`, change: true},
		{name: "null in JSON", kind: gadgets, before: `spec: {a: null}`},
		{name: "null that gets a value", kind: gadgets, before: `spec: {a: null}`, intent: `spec: {a: ""}`, change: true},
		{name: "a value that becomes null", kind: gadgets, before: `spec: {a: ""}`, intent: `spec: {a: null}`, change: true},
		{name: "a quantity that isn't known to be one", kind: gadgets, before: `spec: {a: 500m}`, intent: `spec: {a: "0.5"}`, change: true},
		{name: "a map instead of a value", kind: gadgets, before: `spec: {a: b}`, intent: `spec: {a: {b: c}}`, change: true},
		{name: "a value instead of a map", kind: gadgets, before: `spec: {a: {b: c}}`, intent: `spec: {a: b}`, change: true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := newServer(test.kind)
			if _, err := s.apply(us, decoded(t, test.before)); err != nil {
				t.Fatal(err)
			}
			if test.theirs != "" {
				patch := decoded(t, test.theirs)
				if err := s.update(them, func(fields map[string]any) { merge(fields, patch) }); err != nil {
					t.Fatal(err)
				}
			}
			intent := test.intent
			if intent == "" {
				intent = test.before
			}
			got, err := s.judge(decoded(t, intent))
			if err != nil {
				t.Fatal(err)
			}
			changed, err := s.apply(us, decoded(t, intent))
			if err != nil {
				t.Fatal(err)
			}
			if changed != test.change {
				t.Errorf("the server says changed = %t, want %t", changed, test.change)
			}
			if want := !test.change && !test.doubt; got != want {
				t.Errorf("Unchanged = %t, want %t", got, want)
			}
		})
	}
}

// pod is a deployment with a container of which something is said.
func pod(container string) string {
	return "spec:\n  template:\n    spec:\n      containers:\n      - name: c\n        " + container + "\n"
}

func decoded(t *testing.T, text string) map[string]any {
	t.Helper()
	out, err := fields(text)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

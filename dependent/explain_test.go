// SPDX-License-Identifier: Apache-2.0

package dependent_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/rand"

	"github.com/espalier-dev/espalier/dependent"
	"github.com/espalier-dev/espalier/workflow"
)

// hush is a value that must never be read in a message.
const hush = "hush-2f9c"

// What the server says about an object may hold the object's own values: of a Secret the paths alone are passed on, of
// anything else the last clause too.
func TestMessagesHoldNoValues(t *testing.T) { // R35 R45 Q4
	tests := []struct {
		name    string
		declare func(b builder, refused bool)
		want    string // of the message, after the object's name
		reason  string
	}{
		{
			name: "a key of a Secret",
			declare: func(b builder, refused bool) {
				dependent.Typed(b, "node", func(run) (*corev1.Secret, error) {
					s := secret(corev1.SecretTypeOpaque, "ok", hush)
					if refused {
						s.Data["not ok"] = []byte(hush)
					}
					return s, nil
				})
			},
			want: `Invalid data[not ok]`, reason: "Invalid",
		},
		{
			name: "the type of a Secret",
			declare: func(b builder, refused bool) {
				dependent.Typed(b, "node", func(run) (*corev1.Secret, error) {
					if refused {
						return secret("example.com/"+hush, "ok", hush), nil
					}
					return secret(corev1.SecretTypeOpaque, "ok", hush), nil
				})
			},
			want: `type can't be changed: `, reason: "Immutable",
		},
		{
			name: "a Secret that isn't what its type says",
			declare: func(b builder, refused bool) {
				dependent.Typed(b, "node", func(run) (*corev1.Secret, error) {
					if refused {
						return secret(corev1.SecretTypeDockerConfigJson, corev1.DockerConfigJsonKey, "{"+hush), nil
					}
					return secret(corev1.SecretTypeDockerConfigJson, corev1.DockerConfigJsonKey, `{"auths":{}}`), nil
				})
			},
			want: `Invalid data[.dockerconfigjson]`, reason: "Invalid",
		},
		{
			name: "a Secret that isn't one",
			declare: func(b builder, refused bool) {
				dependent.Apply[corev1.Secret](b, "node", func(run) (*configuration, error) {
					c := &configuration{map[string]any{"metadata": map[string]any{"name": "object"}}}
					if refused {
						c.fields[hush] = hush
					}
					return c, nil
				})
			},
			want: `status 500`, reason: "Invalid",
		},
		{
			name: "data of a Secret that isn't encoded",
			declare: func(b builder, refused bool) {
				dependent.Apply[corev1.Secret](b, "node", func(run) (*configuration, error) {
					c := &configuration{map[string]any{"metadata": map[string]any{"name": "object"}}}
					if refused {
						c.fields["data"] = map[string]any{"a": hush + "!"}
					}
					return c, nil
				})
			},
			want: `status 500`, reason: "Error",
		},
		{
			name: "the template of a Job",
			declare: func(b builder, refused bool) {
				dependent.Typed(b, "node", func(run) (*batchv1.Job, error) {
					pod := podSpec("1")
					if refused {
						pod = podSpec("2")
					}
					return &batchv1.Job{
						ObjectMeta: metav1.ObjectMeta{Name: "object"},
						Spec:       batchv1.JobSpec{Template: corev1.PodTemplateSpec{Spec: pod}},
					}, nil
				})
			},
			want: `spec.template can't be changed: `, reason: "Immutable",
		},
		{
			name: "the spec of a Pod",
			declare: func(b builder, refused bool) {
				dependent.Typed(b, "node", func(run) (*corev1.Pod, error) {
					pod := podSpec("1")
					if refused {
						pod = podSpec("2")
					}
					return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "object"}, Spec: pod}, nil
				})
			},
			want: `spec can't be changed: `, reason: "Immutable",
		},
		{
			name: "an environment variable twice",
			declare: func(b builder, refused bool) {
				dependent.Typed(b, "node", func(run) (*corev1.Pod, error) {
					pod := podSpec("1")
					if refused {
						pod.Containers[0].Env = append(pod.Containers[0].Env, corev1.EnvVar{Name: "A", Value: hush})
					}
					return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "object"}, Spec: pod}, nil
				})
			},
			want: `status 500: duplicate entries for key`, reason: "Invalid",
		},
		{
			name: "the size of a claim",
			declare: func(b builder, refused bool) {
				dependent.Typed(b, "node", func(run) (*corev1.PersistentVolumeClaim, error) {
					claim := &corev1.PersistentVolumeClaim{
						ObjectMeta: metav1.ObjectMeta{Name: "object"},
						Spec: corev1.PersistentVolumeClaimSpec{
							AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}, VolumeName: hush,
							Resources: corev1.VolumeResourceRequirements{
								Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")},
							},
						},
					}
					if refused {
						claim.Spec.VolumeName += "2"
					}
					return claim, nil
				})
			},
			want: `spec can't be changed: `, reason: "Immutable",
		},
		{
			name: "a port of a Service",
			declare: func(b builder, refused bool) {
				dependent.Typed(b, "node", func(run) (*corev1.Service, error) {
					port := int32(80)
					if refused {
						port = 800000
					}
					return &corev1.Service{
						ObjectMeta: metav1.ObjectMeta{Name: "object"}, Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: port}}},
					}, nil
				})
			},
			want: `Invalid spec.ports[0].port spec.ports[0].targetPort: must be between 1 and 65535, inclusive`, reason: "Invalid",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t)
			row, _ := w.reconcile(t, w.runner(t, func(b builder) { test.declare(b, false) }))
			if row.Err != nil {
				t.Fatal(row.Err)
			}
			w = w.restarted(t)
			result := w.runner(t, func(b builder) { test.declare(b, true) }).Reconcile(t.Context(), of(w.primary))
			row = result.Node("node")
			wantRow(t, row, workflow.Failed, test.reason)
			// What the schema doesn't have, or doesn't let change, is for good; whatever else is invalid may be valid one day.
			terminal := test.reason == "Immutable" || test.reason == "Invalid" && strings.HasPrefix(test.want, "status 500")
			if workflow.IsTerminal(row.Err) != terminal || row.RetryAfter > 0 == terminal {
				t.Errorf("terminal = %t, want %t; it is tried again after %v", !terminal, terminal, row.RetryAfter)
			}
			_, after, _ := strings.Cut(row.Message, `"object": `)
			if !strings.HasPrefix(after, test.want) {
				t.Errorf("the message is %q, want %q in it", row.Message, test.want)
			}
			for _, text := range []string{row.Message, result.Err().Error(), fmt.Sprintf("%+v", row.Err), fmt.Sprintf("%v", row)} {
				if strings.Contains(text, hush) {
					t.Errorf("a value can be read in %q", text)
				}
			}
			if len([]rune(after)) > 300 || strings.Contains(after, "\n") {
				t.Errorf("the message is long: %q", row.Message)
			}
			if status := apierrors.APIStatus(nil); !errors.As(row.Err, &status) {
				t.Error("the cause can't be found")
			}
		})
	}
}

func TestLastClause(t *testing.T) { // R45
	tests := []struct{ name, message, want string }{
		{"no clause", "nothing to see", "nothing to see"},
		{"empty", "", ""},
		{"a reason", `Job "a" is invalid: spec.template: Invalid value: {"a":"hush"}: field is immutable`, "field is immutable"},
		{"several reasons", `Service "a" is invalid: [spec.a: Invalid value: "hush": must be b, spec.c: Required value: must be set]`, "must be set"},
		{"a list in the reason", `Service "a" is invalid: spec.a: Invalid value: "hush": must be one of [b, c]`, "must be one of [b, c]"},
		{"allowed values", `Pod "a" is invalid: spec.a: Unsupported value: "hush": supported values: "b", "c"`, `"b", "c"`},
		{"a value at the end", `Pod "a" is invalid: spec.a: Duplicate value: {"name":"a","value":"hush"}`, ""},
		{"a value with a colon at the end", `Pod "a" is invalid: spec.a: Invalid value: "x: hush"`, ""},
		{"a difference", "Pod \"a\" is invalid: spec: Forbidden: may not change\n {\n- value: \"hush\"", "may not change"},
		{"a long one", "a: " + strings.Repeat("ä", 300), strings.Repeat("ä", 199) + "…"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := dependent.LastClause(test.message); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// A message that differs with every attempt would be a status write each.
func TestMessagesOfTheWay(t *testing.T) { // R62
	request := func(err error) error {
		return &url.Error{Op: "Patch", URL: "https://10.0.0.1:443/api/v1/namespaces/shop/configmaps/a?force=true", Err: err}
	}
	address := func(port int) net.Addr { return &net.TCPAddr{IP: net.IPv4(10, 0, 0, 1), Port: port} }
	tests := []struct {
		name string
		err  error
		want string
	}{
		{
			"reset", request(&net.OpError{Op: "read", Net: "tcp", Source: address(54321), Addr: address(443), Err: syscall.ECONNRESET}),
			"doing it: read: connection reset by peer",
		},
		{
			"refused", request(&net.OpError{Op: "dial", Net: "tcp", Addr: address(443), Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}),
			"doing it: dial: connect: connection refused",
		},
		{"another error of the request", request(io.ErrUnexpectedEOF), "doing it: unexpected EOF"},
		{"anything else", context.DeadlineExceeded, "doing it: context deadline exceeded"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			err := dependent.Classify("doing it", test.err)
			if err.Error() != test.want {
				t.Errorf("got %q, want %q", err, test.want)
			}
			if !errors.Is(err, test.err) || workflow.IsTerminal(err) {
				t.Errorf("the cause is lost, or it isn't tried again: %#v", err)
			}
		})
	}
}

// What is invalid for now is tried again: a port that another Service has.
func TestInvalidForNow(t *testing.T) { // R20 R39
	w := newWorld(t)
	service := func(name string, port int32) *corev1.Service {
		return &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: w.namespace}, Spec: corev1.ServiceSpec{
			Type: corev1.ServiceTypeNodePort, Ports: []corev1.ServicePort{{Port: 80, NodePort: port}},
		}}
	}
	theirs := service("theirs", 0) // the server chooses
	w.create(t, theirs)
	runner := w.runner(t, func(b builder) {
		dependent.Typed(b, "node", func(run) (*corev1.Service, error) {
			return service("ours", theirs.Spec.Ports[0].NodePort), nil
		}).Backoff(workflow.Backoff{First: time.Millisecond, Last: time.Millisecond})
	})
	row, _ := w.reconcile(t, runner)
	wantRow(t, row, workflow.Failed, "Invalid")
	if want := `applying Service "ours": Invalid spec.ports[0].nodePort: provided port is already allocated`; row.Message != want {
		t.Errorf("the message is %q, want %q", row.Message, want)
	}
	if err := w.others.Delete(t.Context(), theirs); err != nil {
		t.Fatal(err)
	}
	w.waits(t, func(ctx context.Context) bool { return runner.Reconcile(ctx, of(w.primary)).Ready() }, "it isn't made")
}

// An intent that an object doesn't take is tried at once on the next object of that name, or where there is none.
func TestInvalidForThisObject(t *testing.T) { // R20 R35
	for _, next := range []string{"none", "another"} {
		t.Run(next, func(t *testing.T) {
			w, s := newWorld(t), &settings{data: map[string]string{"a": "1"}}
			runner := w.runner(t, s.declare)
			w.reconcile(t, runner)
			live := read[corev1.ConfigMap](t, w, "settings")
			w.patch(t, live, `{"immutable":true}`)
			s.data["a"] = "2"
			row, sent := w.reconcile(t, runner)
			wantRow(t, row, workflow.Failed, "Immutable")
			wantSent(t, sent, "apply configmaps")
			row, sent = w.reconcile(t, runner)
			wantRow(t, row, workflow.Failed, "Immutable")
			wantSent(t, sent)
			if err := w.others.Delete(t.Context(), live); err != nil {
				t.Fatal(err)
			}
			w.misses(t, live)
			if next == "another" {
				again := configMap(w.namespace, "settings")
				again.OwnerReferences, again.Data = live.OwnerReferences, live.Data
				w.create(t, again)
				w.sees(t, again)
			}
			row, sent = w.reconcile(t, runner)
			wantRow(t, row, workflow.Ready, "")
			wantSent(t, sent, "apply configmaps")
		})
	}
}

func secret(kind corev1.SecretType, key, value string) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: "object"}, Type: kind, Data: map[string][]byte{key: []byte(value)},
	}
}

func podSpec(value string) corev1.PodSpec {
	return corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{
		Name: "main", Image: "registry.example.com/main:1",
		Env: []corev1.EnvVar{{Name: "A", Value: hush + value}, {Name: "B", Value: "x: " + hush + value}},
	}}}
}

func TestForbidden(t *testing.T) { // R32 R45
	w := newWorld(t)
	user, err := shared.get(t).User("reader-" + w.namespace)
	if err != nil {
		t.Fatal(err)
	}
	allow(t, w, "reader-"+w.namespace, rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"list", "watch"}})
	w.startAs(t, user)
	s := &settings{data: map[string]string{"a": hush}}
	row, _ := w.reconcile(t, w.runner(t, s.declare))
	wantRow(t, row, workflow.Failed, "Forbidden")
	if strings.Contains(row.Message, hush) || !strings.HasPrefix(row.Message, `applying ConfigMap "settings": Forbidden`) {
		t.Errorf("the message is %q", row.Message)
	}
	if workflow.IsTerminal(row.Err) || row.RetryAfter == 0 {
		t.Error("a role may be granted later")
	}
}

// allow grants a user something in all namespaces.
func allow(t *testing.T, w *world, user string, rules ...rbacv1.PolicyRule) {
	t.Helper()
	role := user + "-" + rand.String(5)
	w.create(t, &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: role}, Rules: rules})
	w.create(t, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: role},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "User", Name: user}},
	})
}

// SPDX-License-Identifier: Apache-2.0

package dependent_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/espalier-dev/espalier/dependent"
	v1 "github.com/espalier-dev/espalier/examples/webapp/api/v1"
	"github.com/espalier-dev/espalier/workflow"
)

// life is what is wanted of two dependent objects and a third over time: each stage costs some writes, and each of them
// may go wrong.
type life struct {
	name, data, seal string
	wanted           bool
}

func (l *life) declare(b builder) {
	soon := workflow.Backoff{First: time.Millisecond, Last: time.Millisecond}
	config := dependent.Typed(b, "config", func(run) (*corev1.ConfigMap, error) {
		c := configMap("", l.name)
		c.Data = map[string]string{"a": l.data}
		return c, nil
	}).Backoff(soon)
	dependent.Typed(b, "gadget", func(run) (*Gadget, error) {
		g := &Gadget{}
		g.Name, g.Spec.Seal = "gadget", l.seal
		return g, nil
	}).Backoff(soon).Recreate(dependent.WhenImmutable).DependsOn(config)
	dependent.Generate[corev1.Secret](b, "password", map[string]dependent.Generator{"password": dependent.RandomText(12)}).
		Backoff(soon).ReconcileWhen("wanted", func(run) workflow.Verdict {
		return workflow.If(l.wanted, "Unwanted", "it isn't wanted")
	})
}

// stages are the same for every fault.
func stages() []life {
	return []life{
		{"first", "1", "a", true},  // three creates
		{"first", "2", "a", true},  // an update
		{"first", "2", "b", true},  // a delete, and a create
		{"second", "2", "b", true}, // a create, and a delete
		{"second", "2", "b", false},
	}
}

// trouble is what happens to one request.
type trouble struct {
	name  string
	sends bool // the server gets it all the same
	ends  bool // the operator ends with it
	code  int  // what the server seems to answer; 0: nothing
}

func troubles() []trouble {
	return []trouble{
		{name: "conflict", code: 409},
		{name: "too many requests", code: 429},
		{name: "internal error", code: 500},
		{name: "timeout"},
		{name: "lost answer", sends: true},
		{name: "crash before", ends: true},
		{name: "crash after", sends: true, ends: true},
	}
}

var errTrouble = errors.New("no answer within the time")

// happens arms a world's operator: the request of this number fails. It returns how many there were, and whether it has
// ended.
func (tr trouble) happens(w *world, at int32) (count *atomic.Int32, ended *atomic.Bool) {
	count, ended = &atomic.Int32{}, &atomic.Bool{}
	fault := func(req *http.Request, next http.RoundTripper) (*http.Response, error) {
		if ended.Load() {
			return nil, errTrouble
		}
		if count.Add(1) != at {
			return next.RoundTrip(req)
		}
		ended.Store(tr.ends)
		if tr.sends {
			resp, err := next.RoundTrip(req)
			if err != nil {
				return nil, err
			}
			return nil, errors.Join(errTrouble, resp.Body.Close())
		}
		if tr.code == 0 {
			return nil, errTrouble
		}
		body := fmt.Sprintf(`{"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": %d, "message": "trouble"}`, tr.code)
		return &http.Response{
			StatusCode: tr.code, Status: http.StatusText(tr.code), Request: req, Header: http.Header{"Content-Type": {"application/json"}},
			Body: io.NopCloser(bytes.NewBufferString(body)), ContentLength: int64(len(body)), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		}, nil
	}
	w.gate.fault.Store(&fault)
	return count, ended
}

// lives lives through all stages and a cleanup, with one trouble, and returns how many writes that took.
func (tr trouble) lives(t *testing.T, at int32, lags bool) int32 {
	t.Helper()
	w, l := newWorld(t), &life{}
	bystander := configMap(w.namespace, "bystander")
	bystander.Labels = map[string]string{"espalier.dev/workflow": "webapp", "espalier.dev/node": "config"}
	w.create(t, bystander)
	count, ended := tr.happens(w, at)
	bind := func() *workflow.Runner[*v1.WebApp] {
		return w.runner(t, l.declare, workflow.Options{OrderedDeletion: true})
	}
	runner := bind()
	until := func(what string, act func() *workflow.Result, done func(*workflow.Result) bool) {
		t.Helper()
		if lags {
			w.gate.shut()
			act()
			act()
			w.gate.reopen()
		}
		var last *workflow.Result
		w.waits(t, func(context.Context) bool {
			if ended.Load() {
				w = w.restarted(t)
				ended = &atomic.Bool{}
				runner = bind()
			}
			sent := w.sends(func() { last = act() })
			return done(last) && len(sent) == 0 && w.hasCaughtUp(t)
		}, "%s: it doesn't come to rest", what)
	}
	for i, stage := range stages() {
		*l = stage
		until(fmt.Sprint("stage ", i), func() *workflow.Result {
			return runner.Reconcile(t.Context(), of(w.primary))
		}, (*workflow.Result).Ready)
		if diff := cmp.Diff(l.objects(), w.objects(t)); diff != "" {
			t.Fatalf("stage %d: want -, got +:\n%s", i, diff)
		}
	}
	until("the end", func() *workflow.Result { return runner.Cleanup(t.Context(), of(w.primary)) }, (*workflow.Result).Complete)
	if diff := cmp.Diff(map[string]string{}, w.objects(t)); diff != "" {
		t.Fatalf("the end: want -, got +:\n%s", diff)
	}
	if now := read[corev1.ConfigMap](t, w, "bystander"); now.ResourceVersion != bystander.ResourceVersion {
		t.Error("somebody else's object was touched")
	}
	return count.Load()
}

// hasCaughtUp reports whether no write is newer than what the cache shows.
func (w *world) hasCaughtUp(tb testing.TB) bool {
	tb.Helper()
	return dependent.Unseen(w.engine) == 0
}

// objects is what must be there.
func (l *life) objects() map[string]string {
	all := map[string]string{"ConfigMap " + l.name: l.data, "Gadget gadget": l.seal}
	if l.wanted {
		all["Secret shop-password"] = "password"
	}
	return all
}

// objects is what is there of the primary.
func (w *world) objects(tb testing.TB) map[string]string {
	tb.Helper()
	all := map[string]string{}
	ours := client.MatchingLabels{w.engine.OwnerLabel(): string(w.primary.UID)}
	configs, gadgets, secrets := &corev1.ConfigMapList{}, &GadgetList{}, &corev1.SecretList{}
	for _, list := range []client.ObjectList{configs, gadgets, secrets} {
		if err := w.others.List(tb.Context(), list, client.InNamespace(w.namespace), ours); err != nil {
			tb.Fatal(err)
		}
	}
	for i := range configs.Items {
		all["ConfigMap "+configs.Items[i].Name] = configs.Items[i].Data["a"]
	}
	for i := range gadgets.Items {
		all["Gadget "+gadgets.Items[i].Name] = gadgets.Items[i].Spec.Seal
	}
	for i := range secrets.Items {
		for key := range secrets.Items[i].Data {
			all["Secret "+secrets.Items[i].Name] = key
		}
	}
	return all
}

// Every write of creating, updating, making anew, pruning and deleting fails once, in every way, or the operator ends
// before or after it: nothing is doubled, lost or taken from others, and everything comes to rest.
func TestEveryWriteFailsOnce(t *testing.T) { // R21 R33 R40
	writes := trouble{name: "none"}.lives(t, 0, false)
	if writes < 10 {
		t.Fatalf("there are %d writes: too few to be all", writes)
	}
	for _, tr := range troubles() {
		for at := int32(1); at <= writes; at++ {
			t.Run(fmt.Sprintf("%s/write %d", tr.name, at), func(t *testing.T) {
				t.Parallel()
				tr.lives(t, at, false)
			})
		}
	}
}

// The same with a cache that lags.
func TestEveryWriteFailsOnceUnseen(t *testing.T) { // R32
	writes := trouble{name: "none"}.lives(t, 0, true)
	for at := int32(1); at <= writes; at++ {
		t.Run(fmt.Sprintf("lost answer/write %d", at), func(t *testing.T) {
			t.Parallel()
			trouble{name: "lost answer", sends: true}.lives(t, at, true)
		})
	}
}

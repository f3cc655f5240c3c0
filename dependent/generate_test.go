// SPDX-License-Identifier: Apache-2.0

package dependent_test

import (
	"errors"
	"maps"
	"regexp"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/cluster"

	"github.com/espalier-dev/espalier/dependent"
	v1 "github.com/espalier-dev/espalier/examples/webapp/api/v1"
	"github.com/espalier-dev/espalier/workflow"
)

func TestGenerate(t *testing.T) { // R47 B6
	w := newWorld(t)
	generators := map[string]dependent.Generator{"password": dependent.RandomText(24)}
	declare := func(b builder) { dependent.Generate[corev1.Secret](b, "node", generators) }
	runner := w.runner(t, declare)
	row, sent := w.reconcile(t, runner)
	wantRow(t, row, workflow.Ready, "")
	wantSent(t, sent, "apply secrets")
	first := read[corev1.Secret](t, w, "shop-node")
	if len(first.Data) != 1 || !regexp.MustCompile("^[a-z2-7]{24}$").Match(first.Data["password"]) {
		t.Fatalf("generated %q", first.Data)
	}
	for range 3 {
		_, sent = w.reconcile(t, runner)
		wantSent(t, sent)
	}
	w.sees(t, first)
	_, sent = w.reconcile(t, runner)
	wantSent(t, sent)

	// A restart, and a key that is new.
	generators["token"] = dependent.RandomText(8)
	w = w.restarted(t)
	runner = w.runner(t, declare)
	row, sent = w.reconcile(t, runner)
	wantRow(t, row, workflow.Ready, "")
	wantSent(t, sent, "apply secrets")
	second := read[corev1.Secret](t, w, "shop-node")
	if string(second.Data["password"]) != string(first.Data["password"]) || len(second.Data["token"]) != 8 {
		t.Errorf("first %q, then %q", first.Data, second.Data)
	}

	// Somebody sets another value, and it is kept.
	w.patch(t, read[corev1.Secret](t, w, "shop-node"), `{"data":{"password":"b3RoZXI="}}`)
	row, _ = w.reconcile(t, runner)
	wantRow(t, row, workflow.Ready, "")
	_, sent = w.reconcile(t, runner)
	wantSent(t, sent)
	if now := read[corev1.Secret](t, w, "shop-node"); string(now.Data["password"]) != "other" {
		t.Errorf("the value that somebody set is now %q", now.Data["password"])
	}

	// Somebody removes it, and it is made anew.
	w.patch(t, read[corev1.Secret](t, w, "shop-node"), `{"data":{"password":null}}`)
	_, sent = w.reconcile(t, runner)
	wantSent(t, sent, "apply secrets")
	now := read[corev1.Secret](t, w, "shop-node")
	if len(now.Data["password"]) != 24 || string(now.Data["password"]) == string(first.Data["password"]) {
		t.Errorf("made anew: %q", now.Data["password"])
	}
	if string(now.Data["token"]) != string(second.Data["token"]) {
		t.Error("the other value has changed")
	}
}

func TestGenerateConfigMap(t *testing.T) { // R47
	w := newWorld(t)
	made := 0
	runner := w.runner(t, func(b builder) {
		dependent.Generate[corev1.ConfigMap](b.Group("part"), "node", map[string]dependent.Generator{
			"id": func() (string, error) { made++; return "one", nil },
		})
	})
	for range 3 {
		if err := runner.Reconcile(t.Context(), of(w.primary)).Err(); err != nil {
			t.Fatal(err)
		}
	}
	if live := read[corev1.ConfigMap](t, w, "shop-part-node"); !maps.Equal(live.Data, map[string]string{"id": "one"}) || made != 1 {
		t.Errorf("there is %v, made %d times", live.Data, made)
	}
}

// A value that another operator has generated is kept, also if the cache shows only what is tracked.
func TestGenerateTakesOverUnseenValues(t *testing.T) { // R34 R47 R49
	w := newWorld(t)
	theirs := secret(corev1.SecretTypeOpaque, "password", "old")
	theirs.Name, theirs.Namespace = "shop-node", w.namespace
	theirs.OwnerReferences = []metav1.OwnerReference{{
		APIVersion: v1.GroupVersion().String(), Kind: v1.Kind, Name: w.primary.Name, UID: w.primary.UID, Controller: new(true),
	}}
	w.create(t, theirs)
	w = w.restarted(t, func(o *cluster.Options) {
		o.Cache.ByObject = map[client.Object]cache.ByObject{
			&corev1.Secret{}: {Label: labels.SelectorFromSet(labels.Set{"espalier.dev/workflow": "webapp"})},
		}
	})
	runner := w.runner(t, func(b builder) {
		dependent.Generate[corev1.Secret](b, "node", map[string]dependent.Generator{
			"password": dependent.RandomText(24), "token": dependent.RandomText(24),
		})
	})
	row, _ := w.reconcile(t, runner)
	wantRow(t, row, workflow.Ready, "")
	live := read[corev1.Secret](t, w, "shop-node")
	if string(live.Data["password"]) != "old" || len(live.Data["token"]) != 24 || live.UID != theirs.UID {
		t.Errorf("there is %q", live.Data)
	}
	w.sees(t, live)
	_, sent := w.reconcile(t, runner)
	wantSent(t, sent)
}

// What the cache doesn't show is never overwritten: neither what it doesn't show yet nor what it never will.
func TestGenerateNeverOverwritesWhatIsUnseen(t *testing.T) { // R33 R47 P4
	declare := func(b builder) {
		dependent.Generate[corev1.Secret](b, "node", map[string]dependent.Generator{"password": dependent.RandomText(24)})
	}
	hidden := func(o *cluster.Options) {
		o.Cache.ByObject = map[client.Object]cache.ByObject{
			&corev1.Secret{}: {Label: labels.SelectorFromSet(labels.Set{"example.com/shown": "yes"})},
		}
	}
	tests := []struct {
		name    string
		options []cluster.Option
		state   workflow.State
		reason  string
	}{
		{name: "not yet", state: workflow.Waiting, reason: "Unseen"},
		{name: "never", options: []cluster.Option{hidden}, state: workflow.Failed, reason: "Hidden"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			first := newWorld(t)
			second := first.restarted(t, test.options...)
			runner := second.runner(t, declare)
			if test.options == nil {
				second.gate.shut()
			}
			first.reconcile(t, first.runner(t, declare))
			before := read[corev1.Secret](t, first, "shop-node")
			if test.options != nil { // let the cache pass that version by
				shown := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{
					Name: "shown", Namespace: first.namespace, Labels: map[string]string{"example.com/shown": "yes"},
				}}
				first.create(t, shown)
				second.sees(t, shown)
			}
			row, sent := second.reconcile(t, runner)
			wantRow(t, row, test.state, test.reason)
			wantSent(t, sent, "apply secrets", "get secrets")
			if after := read[corev1.Secret](t, first, "shop-node"); after.ResourceVersion != before.ResourceVersion {
				t.Errorf("it was overwritten: %q, then %q", before.Data, after.Data)
			}
			if test.options != nil { // it doesn't loop
				row, sent = second.reconcile(t, runner)
				wantRow(t, row, test.state, test.reason)
				wantSent(t, sent)
			} else {
				second.gate.reopen()
				second.sees(t, before)
				row, sent = second.reconcile(t, runner)
				wantRow(t, row, workflow.Ready, "")
				wantSent(t, sent)
			}
		})
	}
}

func TestGenerateFails(t *testing.T) { // R47
	w := newWorld(t)
	runner := w.runner(t, func(b builder) {
		dependent.Generate[corev1.Secret](b, "node", map[string]dependent.Generator{
			"good": dependent.RandomText(8), "weak": func() (string, error) { return "", errors.New("no randomness") },
		})
	})
	row, sent := w.reconcile(t, runner)
	wantRow(t, row, workflow.Failed, "Error")
	wantSent(t, sent)
	if want := `generating "weak": no randomness`; !strings.Contains(row.Message, want) {
		t.Errorf("the message is %q, want %q in it", row.Message, want)
	}
}

func TestRandomText(t *testing.T) { // R47
	seen := map[string]bool{}
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 200).Draw(t, "length")
		text, err := dependent.RandomText(n)()
		if err != nil {
			t.Fatal(err)
		}
		if len(text) != n || strings.Trim(text, "abcdefghijklmnopqrstuvwxyz234567") != "" {
			t.Errorf("%d characters: %q", n, text)
		}
		if n > 20 && seen[text] {
			t.Errorf("%q came twice", text)
		}
		seen[text] = true
	})
}

// A new epoch generates everything anew, once; without one before, what is there is kept.
func TestGenerateByEpoch(t *testing.T) { // R47
	w, epoch := newWorld(t), ""
	declare := func(b builder) {
		dependent.GenerateByEpoch[corev1.Secret](b, "node", map[string]dependent.Generator{
			"password": dependent.RandomText(24), "token": dependent.RandomText(24),
		}, func(run) (string, error) { return epoch, nil })
	}
	runner := w.runner(t, declare)
	w.reconcile(t, runner)
	was := read[corev1.Secret](t, w, "shop-node")
	for _, step := range []struct {
		epoch string
		keeps bool
	}{{"2026-01", true}, {"2026-02", false}, {"2026-02", true}, {"", true}, {"2026-03", true}, {"2026-04", false}} {
		changes := epoch != step.epoch
		epoch = step.epoch
		w.sees(t, was)
		row, sent := w.reconcile(t, runner)
		if wantRow(t, row, workflow.Ready, ""); applies(sent) > 1 || !changes && applies(sent) > 0 {
			t.Errorf("epoch %q: sent %v", epoch, sent)
		}
		now := read[corev1.Secret](t, w, "shop-node")
		for key := range was.Data {
			if keeps := string(now.Data[key]) == string(was.Data[key]); keeps != step.keeps || len(now.Data[key]) != 24 {
				t.Errorf("epoch %q: keeps %s: %v, want %v", epoch, key, keeps, step.keeps)
			}
		}
		was = now
		w = w.restarted(t)
		runner = w.runner(t, declare)
	}
}

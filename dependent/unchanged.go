// SPDX-License-Identifier: Apache-2.0

package dependent

import (
	"encoding/json"
	"hash/maphash"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/espalier-dev/espalier/internal/owned"
)

// record is what is remembered of an object that was in order: of what was wanted, and of what was there. The next run
// compares with it first. Losing it costs a closer look.
type record struct {
	node    string // that wants it
	intent  uint64 // digest of what was wanted
	uid     types.UID
	version string
	wrote   string // the version that a write of ours answered, with managed fields
	meta    uint64 // digest of everything but version, spec and status that may tell of a change
	owned   uint64 // digest of the owned fields and their live values, if the server judged them; else 0
	drift   string // what others have changed and keep
	pruned  bool   // nothing is left of what the node had before
}

// isRemembered reports whether writing the intent would change nothing, as far as the record tells: the same intent on
// the same version, or on one that only status has moved. It brings rec up to date.
func (o *object[P, T]) isRemembered(in intent, live T, rec *record) bool {
	if rec.intent != in.digest || rec.uid != live.GetUID() {
		return false
	}
	if rec.version != live.GetResourceVersion() {
		if live.GetGeneration() == 0 || rec.meta != o.metaDigest(live) {
			return false
		}
		rec.version = live.GetResourceVersion()
	}
	return true
}

// unchanged reports the same by a closer look: at the fields that we own, one by one; where they differ, whether the
// server has judged them to be the same before. It brings rec up to date. What can't be compared is left to the server.
func (o *object[P, T]) unchanged(in intent, live T, rec *record) bool {
	if o.engine.hasFormer(live) {
		return false // what it owns, and we don't want, would stay
	}
	judged := rec.intent == in.digest && rec.uid == live.GetUID()
	look := o.inspect(in, live)
	if look.owned == 0 || !look.unchanged && (!judged || look.owned != rec.owned) {
		return false
	}
	*rec = record{
		node: in.node, intent: in.digest, uid: live.GetUID(), version: live.GetResourceVersion(),
		meta: o.metaDigest(live), owned: look.owned, drift: rec.drift, pruned: rec.pruned && rec.uid == live.GetUID(),
	}
	return true
}

// inspection is what our managed fields say of an object. The zero value says nothing.
type inspection struct {
	unchanged bool
	owned     uint64 // digest of the owned fields and their values; 0 if nothing is owned, or nothing can be said
}

func (o *object[P, T]) inspect(in intent, live T) inspection {
	set := o.ours(live)
	if set == nil {
		return inspection{}
	}
	c, err := o.compare(in, live)
	if err != nil {
		return inspection{}
	}
	digest := o.digestOf(func(h *maphash.Hash) { owned.Digest(h, set, c.Have) })
	return inspection{unchanged: c.Unchanged(set), owned: digest}
}

// judged makes the record of what a write answered: whatever the fields look like, the server takes them for the same.
func (o *object[P, T]) judged(in intent, live T) record {
	return record{
		node: in.node, intent: in.digest, uid: live.GetUID(), version: live.GetResourceVersion(),
		meta: o.metaDigest(live), owned: o.inspect(in, live).owned,
	}
}

func (o *object[P, T]) entry(live T) []byte {
	return owned.Entry(live.GetManagedFields(), o.engine.options.FieldManager, "", o.source.gvk.GroupVersion().String())
}

// compare brings the intent and the live object into the form of the kind's Go type.
func (o *object[P, T]) compare(in intent, live T) (owned.Comparison, error) {
	sent, err := in.fields()
	if err != nil {
		return owned.Comparison{}, err
	}
	if u, ok := any(live).(*unstructured.Unstructured); ok && !o.hasGoType() {
		return owned.Comparison{Sent: sent, Want: sent, Have: u.Object}, nil
	}
	want, err := o.asTyped(sent)
	if err != nil {
		return owned.Comparison{}, err
	}
	have, err := o.fieldsOf(live)
	return owned.Comparison{Sent: sent, Want: want, Have: have}, err
}

// fieldsOf returns the fields of an object, as the kind's Go type shows them if there is one.
func (o *object[P, T]) fieldsOf(live T) (map[string]any, error) {
	u, isUntyped := any(live).(*unstructured.Unstructured)
	switch {
	case !isUntyped:
		return runtime.DefaultUnstructuredConverter.ToUnstructured(live)
	case o.hasGoType():
		return o.asTyped(u.Object)
	default:
		return u.Object, nil
	}
}

func (o *object[P, T]) hasGoType() bool {
	return o.engine.target.GetClient().Scheme().Recognizes(o.source.gvk)
}

// asTyped returns fields as the kind's Go type shows them.
func (o *object[P, T]) asTyped(fields map[string]any) (map[string]any, error) {
	text, err := json.Marshal(fields)
	if err != nil {
		return nil, err
	}
	typed, err := o.engine.target.GetClient().Scheme().New(o.source.gvk)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, typed); err != nil {
		return nil, err
	}
	return runtime.DefaultUnstructuredConverter.ToUnstructured(typed)
}

func (o *object[P, T]) digestOf(write func(*maphash.Hash)) uint64 {
	var h maphash.Hash
	h.SetSeed(o.engine.seed)
	write(&h)
	return max(h.Sum64(), 1)
}

// metaDigest covers what a heartbeat leaves alone: generation, labels, annotations, owner references and our own entry.
func (o *object[P, T]) metaDigest(live client.Object) uint64 {
	return o.digestOf(func(h *maphash.Hash) {
		text, err := json.Marshal([]any{
			live.GetGeneration(), live.GetLabels(), live.GetAnnotations(), live.GetOwnerReferences(), live.GetFinalizers(),
		})
		if err == nil {
			_, _ = h.Write(text)
		}
		for _, e := range live.GetManagedFields() {
			if e.Manager == o.engine.options.FieldManager && e.FieldsV1 != nil {
				_, _ = h.WriteString(string(e.Operation) + e.Subresource + e.APIVersion)
				_, _ = h.Write(e.FieldsV1.GetRawBytes())
			}
		}
	})
}

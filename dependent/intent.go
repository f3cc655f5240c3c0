// SPDX-License-Identifier: Apache-2.0

package dependent

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"hash/maphash"
	"maps"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// draft is what an author's function wants, before it is made an intent.
type draft struct {
	name types.NamespacedName
	// plain is the cheap encoding, whose digest is compared on every run.
	plain []byte
	// fields is the exact encoding, needed only if something may have changed.
	fields func() (map[string]any, error)
}

// unfilled is a draft of the same object that says nothing of it.
func (d draft) unfilled() draft {
	return draft{name: d.name, fields: func() (map[string]any, error) { return nil, nil }}
}

// intent is what is sent to the server, but for what guards the write.
type intent struct {
	name   types.NamespacedName
	node   string
	digest uint64
	fields func() (map[string]any, error)
}

// serverFields never take part in an intent: they are the server's.
func serverFields() []string {
	return []string{
		"uid", "resourceVersion", "generation", "creationTimestamp", "deletionTimestamp",
		"deletionGracePeriodSeconds", "managedFields", "selfLink",
	}
}

// fromJSON decodes the fields of an encoded configuration.
func fromJSON(plain []byte) func() (map[string]any, error) {
	return func() (map[string]any, error) {
		var fields map[string]any
		err := utiljson.Unmarshal(plain, &fields)
		return fields, err
	}
}

// intend completes a draft: identity, tracking, and the owner reference if the garbage collector is to remove it.
func (e *Engine) intend(d draft, gvk schema.GroupVersionKind, t tracking, reference map[string]any) intent {
	var h maphash.Hash
	h.SetSeed(e.seed)
	_, _ = h.Write(d.plain)
	for _, part := range [...]string{
		d.name.Namespace, d.name.Name, t.index(), t.key, t.primary.Namespace, t.primary.Name,
	} {
		_ = h.WriteByte(0)
		_, _ = h.WriteString(part)
	}
	if reference != nil {
		_ = h.WriteByte(1)
	}
	if t.adopted {
		_ = h.WriteByte(2)
	}
	return intent{name: d.name, node: t.title(), digest: max(h.Sum64(), 1), fields: func() (map[string]any, error) {
		fields, err := d.fields()
		if err != nil {
			return nil, fmt.Errorf("encoding %s %q: %w", gvk.Kind, d.name.Name, err)
		}
		fields = copied(fields)
		delete(fields, "status")
		if gvk.GroupKind() == secrets() {
			textAsData(fields)
		}
		fields["apiVersion"], fields["kind"] = gvk.GroupVersion().String(), gvk.Kind
		fields["metadata"] = e.metadata(copied(fields["metadata"]), d.name, t, reference)
		return fields, nil
	}}
}

// textAsData puts the stringData of a Secret where the server puts it. The server doesn't know whose it is afterwards:
// it could neither be compared, nor corrected, nor removed.
func textAsData(fields map[string]any) {
	text, ok := fields["stringData"].(map[string]any)
	if !ok {
		return
	}
	data := copied(fields["data"])
	for key, value := range text {
		plain, _ := value.(string)
		data[key] = base64.StdEncoding.EncodeToString([]byte(plain))
	}
	delete(fields, "stringData")
	fields["data"] = data
}

func (e *Engine) metadata(
	meta map[string]any, name types.NamespacedName, t tracking, reference map[string]any,
) map[string]any {
	for _, field := range serverFields() {
		delete(meta, field)
	}
	meta["name"] = name.Name
	if name.Namespace != "" {
		meta["namespace"] = name.Namespace
	}
	labels := copied(meta["labels"])
	for k, v := range t.labels(e) {
		labels[k] = v
	}
	meta["labels"] = labels
	annotations := copied(meta["annotations"])
	for k, v := range t.annotations(e, name.Namespace) {
		annotations[k] = v
	}
	meta["annotations"] = annotations
	if reference != nil {
		meta["ownerReferences"] = []any{reference}
	}
	return meta
}

// copied returns a copy of a JSON object, empty if it isn't one.
func copied(v any) map[string]any {
	m, _ := v.(map[string]any)
	if m == nil {
		return map[string]any{}
	}
	return maps.Clone(m)
}

// guard is what must be there for a write to happen. The zero value is for what must not be there yet.
type guard struct {
	uid     types.UID
	version string // "" if it may have changed
}

// body encodes an intent with what guards its write.
func body(fields map[string]any, g guard) ([]byte, error) {
	meta := copied(fields["metadata"])
	switch {
	case g.uid == "":
		meta["resourceVersion"] = createOnly
	case g.version != "":
		meta["uid"], meta["resourceVersion"] = string(g.uid), g.version
	default:
		meta["uid"] = string(g.uid)
	}
	out := maps.Clone(fields)
	out["metadata"] = meta
	return json.Marshal(out)
}

// createOnly is a resource version that no object has any more: the server creates what is absent, and answers 409 if
// anything is there. It isn't documented, so envtest's contract tests prove it.
const createOnly = "1"

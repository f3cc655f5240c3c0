// SPDX-License-Identifier: Apache-2.0

package dependent

import (
	"crypto/rand"
	"encoding/base32"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/espalier-dev/espalier/workflow"
)

// Generator makes a value that can't be computed again, such as a password.
type Generator func() (string, error)

// RandomText generates n characters, each a lower-case letter or a digit from 2 to 7: 5 bits of randomness per
// character.
func RandomText(n int) Generator {
	return func() (string, error) {
		random := make([]byte, n)
		if _, err := rand.Read(random); err != nil {
			return "", fmt.Errorf("generating random text: %w", err)
		}
		return strings.ToLower(base32.StdEncoding.EncodeToString(random))[:n], nil
	}
}

// Generated are the kinds of object that [Generate] can fill.
type Generated interface {
	corev1.Secret | corev1.ConfigMap
}

// Generate declares a node whose object holds a value per key that is generated once and then kept: whatever is in the
// object under a key stays, and only what is missing is generated. The object is named after the primary and the node.
func Generate[T Generated, PT ObjectOf[T], P client.Object](
	b *workflow.Builder[P], name string, keys map[string]Generator,
) *Object[P, PT] {
	return GenerateByEpoch[T, PT](b, name, keys, func(*workflow.Run[P]) (string, error) { return "", nil })
}

// GenerateByEpoch is [Generate] with rotation: all values are generated anew when the epoch becomes another, such as a
// number in the primary's spec, or the month. It is noted in an annotation of the object. An object without one, as
// another operator has left it, keeps its values, and so does one whose epoch becomes "".
func GenerateByEpoch[T Generated, PT ObjectOf[T], P client.Object](
	b *workflow.Builder[P], name string, keys map[string]Generator, epoch func(r *workflow.Run[P]) (string, error),
) *Object[P, PT] {
	named := func(r *workflow.Run[P]) string {
		if r.Key() == "" {
			return Name(r.Primary(), r.Node())
		}
		return Name(r.Primary(), r.Node(), r.Key())
	}
	desired := func(r *workflow.Run[P], own PT) (draft, error) {
		now, err := epoch(r)
		if err != nil {
			return draft{}, err
		}
		kept := map[string]string{}
		if own != nil && !isOfAnotherEpoch(r.Env(), own, now) {
			kept = contents(own)
		}
		values, stable := make(map[string]string, len(keys)), make(map[string]*string, len(keys))
		for _, key := range slices.Sorted(maps.Keys(keys)) {
			value, ok := kept[key]
			if ok {
				stable[key] = &value
			} else {
				made, err := keys[key]()
				if err != nil {
					return draft{}, fmt.Errorf("generating %q: %w", key, err)
				}
				value, stable[key] = made, nil
			}
			values[key] = value
		}
		obj := filled[T, PT](named(r), values)
		if e, ok := r.Env().(*Engine); ok && now != "" {
			obj.SetAnnotations(map[string]string{e.label(epochAnnotation): now})
		}
		d, err := typedDraft(obj)
		if err != nil {
			return draft{}, err
		}
		// That a value is missing is the same intent every time, though what is generated for it isn't.
		d.plain, err = json.Marshal([]any{now, stable})
		return d, err
	}
	return declare(b, name, &objectKind[P, PT]{example: PT(new(T)), named: named, desired: desired})
}

// isOfAnotherEpoch reports whether what an object holds was generated in an epoch that has ended.
func isOfAnotherEpoch(env any, own client.Object, now string) bool {
	e, ok := env.(*Engine)
	if !ok || now == "" {
		return false
	}
	then := own.GetAnnotations()[e.label(epochAnnotation)]
	return then != "" && then != now
}

func contents(obj client.Object) map[string]string {
	out := map[string]string{}
	switch obj := obj.(type) {
	case *corev1.Secret:
		for k, v := range obj.Data {
			out[k] = string(v)
		}
	case *corev1.ConfigMap:
		maps.Copy(out, obj.Data)
	}
	return out
}

func filled[T Generated, PT ObjectOf[T]](name string, values map[string]string) PT {
	obj := PT(new(T))
	obj.SetName(name)
	switch obj := any(obj).(type) {
	case *corev1.Secret:
		obj.Data = make(map[string][]byte, len(values))
		for k, v := range values {
			obj.Data[k] = []byte(v)
		}
	case *corev1.ConfigMap:
		obj.Data = values
	}
	return obj
}

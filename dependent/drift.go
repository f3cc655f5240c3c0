// SPDX-License-Identifier: Apache-2.0

package dependent

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/espalier-dev/espalier/internal/owned"
	"github.com/espalier-dev/espalier/internal/path"
)

// Correction says what a node does about fields of its object that somebody else has set to another value.
type Correction uint8

const (
	// Correct sets them back, with one write, and says in the node's row what they were and who had set them. It is the
	// default.
	Correct Correction = iota
	// Report leaves them as they are as long as another manager owns them, and says so in the node's row. All other
	// fields are kept as wanted. A field that was removed has no owner, and is put back.
	Report
)

// Drift sets what is done about fields that somebody else has changed.
func (p *Policies[Self]) Drift(what Correction) Self {
	p.policy.drift = what
	return p.self
}

// IgnoreFields names fields whose value is given when the object is made and left alone afterwards, whoever changes
// them, such as spec.replicas where an autoscaler takes over. A path is made of names that are joined by dots; in
// brackets stands a name with dots in it, or which element of a list is meant:
//
//	spec.replicas
//	metadata.annotations[example.com/color]
//	spec.template.spec.containers[name=web].image
func (p *Policies[Self]) IgnoreFields(paths ...string) Self {
	p.policy.ignored = append(p.policy.ignored, paths...)
	return p.self
}

// parsePaths reads the paths of a policy, and lists those that can't be read.
func parsePaths(texts []string) (paths []path.Path, errs []error) {
	for _, text := range texts {
		p, err := path.Parse(text)
		if err != nil {
			errs = append(errs, err)
		}
		paths = append(paths, p)
	}
	return paths, errs
}

// leave takes out of the intent what is to be left as it is there: what the author ignores, and, with Report, what
// others have taken. It says what others have taken.
func (w *write[P, T]) leave(live T) (drift string, err error) {
	if len(w.object.ignored) == 0 && w.object.policy.drift == Correct {
		return "", nil
	}
	c, err := w.object.compare(w.intent, live)
	if err != nil {
		return "", err
	}
	ours := w.object.ours(live)
	sent := c.Sent
	for _, p := range w.object.ignored {
		sent = w.ignore(p, sent, c.Have, ours)
	}
	if w.object.policy.drift == Report && ours != nil && w.standing == own {
		var taken []owned.Field
		if taken, err = w.taken(c, ours, live); err != nil {
			return "", err
		}
		sent, drift = owned.Without(sent, taken), describe(taken)
	}
	w.intent.fields = func() (map[string]any, error) { return sent, nil }
	return drift, nil
}

// ignore gives a field the value that it has. As long as we own it, leaving it out would remove it.
func (w *write[P, T]) ignore(p path.Path, sent, have map[string]any, ours *fieldpath.Set) map[string]any {
	value, there := p.Of(have)
	keep := there && (w.standing != own || p.In(ours))
	return p.With(sent, value, keep)
}

// ours returns the fields that we own, or nil if that isn't known.
func (o *object[P, T]) ours(live T) *fieldpath.Set {
	entry := o.entry(live)
	if entry == nil {
		return nil
	}
	set, err := owned.Parse(entry)
	if err != nil {
		return nil
	}
	return set
}

// taken returns the fields that others have changed, but for our tracking, which is never anybody else's.
func (w *write[P, T]) taken(c owned.Comparison, ours *fieldpath.Set, live client.Object) ([]owned.Field, error) {
	e := w.engine()
	all, err := c.Taken(ours, live.GetManagedFields(), func(m metav1.ManagedFieldsEntry) bool {
		return e.isOurs(m) || e.isFormer(m)
	})
	return slices.DeleteFunc(all, func(f owned.Field) bool {
		last := f.Path[len(f.Path)-1]
		return last.FieldName != nil && strings.HasPrefix(*last.FieldName, e.options.Prefix+"/")
	}), err
}

// corrected says which drift a write of the intent corrects. What was removed is told from what is new only if the
// intent was written before.
func (w *write[P, T]) corrected() string {
	if isNil(w.live) || w.standing != own {
		return ""
	}
	c, err := w.object.compare(w.intent, w.live)
	ours := w.object.ours(w.live)
	if err != nil || ours == nil {
		return ""
	}
	taken, err := w.taken(c, ours, w.live)
	if err != nil {
		return ""
	}
	if w.repeated {
		taken = append(taken, c.Missing(ours)...)
	}
	return describe(taken)
}

// describe names fields and managers, in a stable order.
func describe(fields []owned.Field) string {
	texts := make([]string, 0, len(fields))
	for _, f := range fields {
		if f.Manager == "" {
			texts = append(texts, f.Path.String()+" removed")
		} else {
			texts = append(texts, fmt.Sprintf("%s by %q", f.Path, f.Manager))
		}
	}
	slices.Sort(texts)
	return strings.Join(slices.Compact(texts), separator)
}

const (
	separator = ", "
	maxDrift  = 8
)

// abridged is a description of at most eight fields.
func abridged(drift string) string {
	if more := strings.Count(drift, separator) + 1 - maxDrift; more > 0 {
		parts := strings.SplitN(drift, separator, maxDrift+1)
		return strings.Join(parts[:maxDrift], separator) + fmt.Sprintf(" and %d more", more)
	}
	return drift
}

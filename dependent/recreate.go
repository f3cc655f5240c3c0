// SPDX-License-Identifier: Apache-2.0

package dependent

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/espalier-dev/espalier/internal/path"
	"github.com/espalier-dev/espalier/workflow"
)

// Recreation says what a node does when its object would have to change in a field that can't be changed.
type Recreation uint8

const (
	// Never fails the node, reason Immutable, and names the field. It is the default.
	Never Recreation = iota
	// WhenImmutable deletes the object, waits until it is gone, and makes it anew. What holds data is deleted only with
	// [Policies.DeletesData], and what is to be kept when it isn't wanted isn't deleted either.
	WhenImmutable
	// ContentNamed adds a digest of the desired state, but for its metadata, to the object's name, so that each change
	// makes a new object. The old one goes once the new one and everything that depends on the node are ready.
	// Dependants take the name from the node's value. The state is encoded and digested in every run.
	ContentNamed
)

// Recreate sets what happens when the desired state differs in a field that can't be changed. Which these are the API
// server says, and [Policies.RecreateOn]. A conflict, or a state that is invalid for another reason too, never deletes.
func (p *Policies[Self]) Recreate(when Recreation) Self {
	p.policy.recreate = when
	return p.self
}

// RecreateOn names fields that are taken for immutable though the API server would change them; for the form of a path
// see [Policies.IgnoreFields]. Before such a change the server is asked what the object would become: what only looks
// different deletes nothing.
func (p *Policies[Self]) RecreateOn(paths ...string) Self {
	p.policy.recreateOn = append(p.policy.recreateOn, paths...)
	return p.self
}

// contentName returns the name that goes with the content.
func contentName(d draft) (string, error) {
	fields, err := d.fields()
	if err != nil {
		return "", fmt.Errorf("encoding %q: %w", d.name.Name, err)
	}
	content := copied(fields)
	delete(content, "metadata")
	text, err := json.Marshal(content)
	if err != nil {
		return "", fmt.Errorf("encoding %q: %w", d.name.Name, err)
	}
	return fmt.Sprintf("%s-%x", d.name.Name, sha256.Sum256(text))[:len(d.name.Name)+1+digestLength], nil
}

const digestLength = 10

// immutable returns the fields that the server refuses to change, if that is all that it refuses.
func (w *write[P, T]) immutable(err error) []string {
	var status apierrors.APIStatus
	if !apierrors.IsInvalid(err) || !errors.As(err, &status) || status.Status().Details == nil {
		return nil
	}
	var fields []string
	for _, cause := range status.Status().Details.Causes {
		if !w.saysImmutable(cause) {
			return nil
		}
		fields = append(fields, cause.Field)
	}
	slices.Sort(fields)
	return slices.Compact(fields)
}

func (w *write[P, T]) saysImmutable(cause metav1.StatusCause) bool {
	if strings.HasPrefix(cause.Field, "metadata.") {
		return false // such as the UID of an object that was replaced
	}
	clause := lastClause(cause.Message)
	return slices.ContainsFunc(immutability(), func(phrase string) bool { return strings.Contains(clause, phrase) }) ||
		slices.ContainsFunc(w.object.policy.recreateOn, func(path string) bool {
			return cause.Field == path || strings.HasPrefix(cause.Field, path+".") || strings.HasPrefix(cause.Field, path+"[")
		})
}

// immutability is how API servers say that something can't be changed, as the last clause of a cause.
func immutability() []string {
	return []string{
		"is immutable", "may not be changed", "may not change", "cannot change roleRef",
		"updates to statefulset spec for fields other than", "updates to parameters are forbidden",
		"updates to provisioner are forbidden", "updates to reclaimPolicy are forbidden",
	}
}

// declaredImmutable returns the fields that the author has declared and that the write would change. Only the server
// knows what a value becomes, so it is asked, if a value looks different at all.
func (w *write[P, T]) declaredImmutable(ctx context.Context, g guard) ([]string, error) {
	differing, err := w.differing()
	if err != nil || len(differing) == 0 {
		return nil, err
	}
	after, err := w.send(ctx, g, client.DryRunAll)
	if err != nil {
		return nil, err
	}
	have, err := w.object.fieldsOf(w.live)
	if err != nil {
		return nil, err
	}
	become, err := w.object.fieldsOf(after)
	if err != nil {
		return nil, err
	}
	var fields []string
	for _, p := range differing {
		was, _ := p.Of(have)
		is, _ := p.Of(become)
		if !reflect.DeepEqual(was, is) {
			fields = append(fields, p.String())
		}
	}
	return fields, nil
}

// differing returns the declared paths under which the intent doesn't look like what is there.
func (w *write[P, T]) differing() ([]path.Path, error) {
	if len(w.object.recreateOn) == 0 || isNil(w.live) || w.standing != own {
		return nil, nil
	}
	c, err := w.object.compare(w.intent, w.live)
	if err != nil {
		return nil, err
	}
	ours := w.object.ours(w.live)
	var differing []path.Path
	for _, p := range w.object.recreateOn {
		want, wanted := p.Of(c.Want)
		have, _ := p.Of(c.Have)
		if wanted && !reflect.DeepEqual(want, have) || !wanted && p.In(ours) {
			differing = append(differing, p)
		}
	}
	return differing, nil
}

// recreate deletes what can't be changed, if it may: the next run makes it anew. The cause is what the server said,
// if it said anything.
func (w *write[P, T]) recreate(
	ctx context.Context, fields []string, cause error,
) (out workflow.Outcome[T], err error) {
	what := fmt.Sprintf("applying %s: %s can't be changed", w.name(), strings.Join(fields, ", "))
	if keep := w.mustKeep(); keep != "" {
		return out, workflow.Terminal(workflow.Because("Immutable", &serverError{text: what + ": " + keep, cause: cause}))
	}
	if err := w.object.delete(ctx, w.target, w.live); err != nil {
		return out, err
	}
	out.Operation = workflow.Recreate
	return out, workflow.RetryAfter(workflow.NotYet("Recreating", "%s: it is being made anew", what), again)
}

// mustKeep says why the object must not be deleted to be made anew; "" if it may.
func (w *write[P, T]) mustKeep() string {
	o := w.object
	switch {
	case o.policy.recreate != WhenImmutable:
		return "leave it as it is, or declare the node with Recreate(WhenImmutable)"
	case isNil(w.live), w.standing == adopted, o.disposal(w.live, false) != Delete:
		return "the node may not delete the object: delete it by hand"
	case o.protectsData(w.live):
		return "the object holds data: declare the node with DeletesData(), or delete it by hand"
	default:
		return ""
	}
}

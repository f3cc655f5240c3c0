// SPDX-License-Identifier: Apache-2.0

package dependent

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/espalier-dev/espalier/workflow"
)

// Applied is what came of an [Engine.Apply].
type Applied struct {
	// Object is what is there, for reading only; nil if it can't be written yet.
	Object client.Object
	// Operation is what was done; none if nothing had to change, and then no request was sent.
	Operation workflow.Operation
	// Ready is how the object is, by the rule of its kind; unmet also while it can't be written yet, such as one that is
	// still being deleted.
	Ready workflow.Verdict
}

// Apply brings one object into the state that is wanted, for a reconciler that is written by hand: the same write path
// as that of a node, without a graph. It sends one request if something has to change, and none otherwise. Name tells
// the objects of one owner apart, as a node's name does, and must stay the same; the object's namespace defaults to the
// owner's. The object is encoded as by [Typed].
//
// The owner is of the Engine's primary kind. What it owns is left to the garbage collector when the owner goes, where
// that can. The first call for a kind starts its informer and waits for it. An error says what failed, and is not
// remembered: when to try again is the caller's matter. [workflow.IsTerminal] tells whether trying again can help.
//
// It is safe for concurrent use, but not for one object at once. Call [Engine.Forget] when the owner has gone.
func (e *Engine) Apply(ctx context.Context, owner client.Object, name string, desired client.Object) (Applied, error) {
	if owner.GetUID() == "" {
		return Applied{}, fmt.Errorf("applying %q: its owner %q has no UID: read it from the API server first",
			name, owner.GetName())
	}
	s, err := e.single(ctx, name, desired)
	if err != nil {
		return Applied{}, fmt.Errorf("applying %q of %q: %w", name, owner.GetName(), err)
	}
	id := string(owner.GetUID())
	var out Applied
	result := s.runner.Reconcile(ctx, workflow.Subject[*alone]{
		Primary: &alone{Object: owner, desired: desired}, ID: id,
		Summarize: func(r *workflow.Run[*alone], _ *workflow.Result) { out.Object, _ = s.node.Lookup(r) },
	})
	s.runner.Forget(id) // its delays are for graphs
	row := result.Nodes[0]
	out.Operation = row.Operation
	switch row.State {
	case workflow.Failed:
		return out, fmt.Errorf("applying %q of %q: %w", name, owner.GetName(), row.Err)
	case workflow.Ready:
		out.Ready = workflow.Met()
	default:
		out.Ready = workflow.Unmet(row.Reason, "%s", row.Message).Recheck(row.Recheck)
	}
	return out, nil
}

// alone is a primary with the one object that it wants.
type alone struct {
	client.Object
	desired client.Object
}

// single is a graph of one node, bound.
type single struct {
	runner *workflow.Runner[*alone]
	node   *Object[*alone, client.Object]
}

type singleKey struct {
	gvk  schema.GroupVersionKind
	name string
}

// single returns the one for a kind of object and a name, once its informer has synced.
func (e *Engine) single(ctx context.Context, name string, example client.Object) (*single, error) {
	if isNil(example) {
		return nil, errNil
	}
	gvk, err := e.kindOf(example)
	if err != nil {
		return nil, err
	}
	key := singleKey{gvk, name}
	if known, ok := e.singles.Load(key); ok {
		return known.(*single), nil
	}
	b := workflow.NewBuilder[*alone]("apply")
	s := &single{node: declare(b, name, &objectKind[*alone, client.Object]{
		example: example, desired: func(r *workflow.Run[*alone], _ client.Object) (draft, error) {
			return typedDraft(r.Primary().desired)
		},
	})}
	graph, err := b.Build()
	if err != nil {
		return nil, err
	}
	if s.runner, err = workflow.NewRunner(graph, e, workflow.Options{}); err != nil {
		return nil, err
	}
	kind, err := e.source("", gvk, example)
	if err == nil {
		err = kind.wait(ctx, suspense)
	}
	if err != nil {
		return nil, err
	}
	known, _ := e.singles.LoadOrStore(key, s)
	return known.(*single), nil
}

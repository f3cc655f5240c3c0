// SPDX-License-Identifier: Apache-2.0

package dependent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/discovery"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/espalier-dev/espalier/workflow"
)

// notServedError says that a cluster doesn't serve a kind, by its own word.
type notServedError struct{ kind string }

func (e *notServedError) Error() string { return "the API server doesn't serve " + e.kind }

func (s *source) notServed() error {
	return &notServedError{s.gvk.GroupKind().String() + " in version " + s.gvk.Version}
}

func isNotServed(err error) bool {
	_, ok := errors.AsType[*notServedError](err)
	return ok
}

// untilServed makes the absence of a kind something to wait for.
func (e *Engine) untilServed(err error) error {
	if isNotServed(err) {
		return workflow.RetryAfter(workflow.NotYet("KindNotServed", "%s", err), e.askAgain)
	}
	return err
}

// discover asks the API server itself whether it serves the kind. An error that isn't a [notServedError] says
// nothing: a path that isn't found may be a proxy's word, so the list of groups has to say so, too.
func (s *source) discover(ctx context.Context, target Target) error {
	c, err := discovery.NewDiscoveryClientForConfigAndClient(target.GetConfig(), target.GetHTTPClient())
	if err != nil {
		return fmt.Errorf("asking whether %s is served: %w", s.gvk.Kind, err)
	}
	served, err := c.ServerResourcesForGroupVersionWithContext(ctx, s.gvk.GroupVersion().String())
	switch {
	case apierrors.IsNotFound(err):
		return s.absent(ctx, c)
	case err != nil:
		return fmt.Errorf("asking whether %s is served: %w", s.gvk.Kind, err)
	case !slices.ContainsFunc(served.APIResources, func(r metav1.APIResource) bool { return r.Kind == s.gvk.Kind }):
		return s.notServed()
	}
	return nil
}

// absent says that the kind isn't served, if its version isn't among the groups.
func (s *source) absent(ctx context.Context, c *discovery.DiscoveryClient) error {
	groups, err := c.ServerGroupsWithContext(ctx)
	if err != nil {
		return fmt.Errorf("asking whether %s is served: %w", s.gvk.Kind, err)
	}
	for _, group := range groups.Groups {
		for _, version := range group.Versions {
			if group.Name == s.gvk.Group && version.Version == s.gvk.Version {
				return fmt.Errorf("asking whether %s is served: its version is listed, but can't be read", s.gvk.Kind)
			}
		}
	}
	return s.notServed()
}

// isUnknownPath reports whether the server doesn't know where a request went: the kind is no longer served. A missing
// namespace, or object, is named.
func isUnknownPath(err error) bool {
	return apierrors.IsNotFound(err) && apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse) ||
		meta.IsNoMatchError(err)
}

// doubt looks again whether the kind is served, after a request said that it isn't.
func (s *source) doubt(ctx context.Context) error {
	s.doubted.Store(true)
	_, err := s.open(ctx)
	s.nudge()
	if isNotServed(err) {
		return s.engine.untilServed(err)
	}
	return workflow.RetryAfter(workflow.NotYet("KindNotServed", "%s wasn't served a moment ago", s.gvk.Kind), again)
}

// Served is a condition: the cluster serves kind T. It is unmet only if the API server itself says so. It is passed to
// ActivateWhen, not called:
//
//	node.ActivateWhen("monitors are served", dependent.Served[monitoringv1.ServiceMonitor])
func Served[T any, PT ObjectOf[T], P client.Object](r *workflow.Run[P]) workflow.Verdict {
	return servedIn(r.Context(), r.Env(), "", PT(new(T)))
}

// served is the condition of a node that is there only if its kind is.
func (k *objectKind[P, T]) served(r *workflow.Run[P]) workflow.Verdict {
	return servedIn(r.Context(), r.Env(), k.policy.cluster, k.example)
}

func servedIn(ctx context.Context, env any, cluster string, example client.Object) workflow.Verdict {
	e, err := environment(env)
	if err != nil {
		return workflow.Unknown(err)
	}
	gvk, err := e.kindOf(example)
	if err != nil {
		return workflow.Unknown(err)
	}
	s, err := e.source(cluster, gvk, example)
	if err != nil {
		return workflow.Unknown(err)
	}
	return s.served(ctx)
}

// served answers from fresh discovery: from what a listener keeps fresh, or from a request. That the kind may not be
// read, or that nothing of it has arrived yet, isn't asked.
func (s *source) served(ctx context.Context) workflow.Verdict {
	s.missed.Store(true) // to hear of any change
	if first := !s.asked.Swap(true); first || s.engine.listener.Load() == nil {
		s.doubted.Store(true)
		s.nudge()
	}
	_, err := s.ready(ctx)
	if s.doubted.Load() {
		_, err = s.open(ctx)
	}
	switch {
	case isNotServed(err):
		return workflow.Unmet("KindNotServed", "%s", err).Recheck(s.engine.askAgain)
	case err == nil, s.isPrepared(), isRefused(err) && apierrors.IsForbidden(err) && !s.doubted.Load():
		return workflow.Met()
	default:
		return workflow.Unknown(err)
	}
}

func (s *source) isPrepared() bool {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.prepared != nil && !s.doubted.Load()
}

// refusedError says that the API server didn't let a kind be listed.
type refusedError struct{ error }

func (e *refusedError) Unwrap() error { return e.error }

func isRefused(err error) bool {
	_, ok := errors.AsType[*refusedError](err)
	return ok
}

// admitted asks whether the kind may be listed, before an informer is started that would never sync: every controller
// of the manager that starts later would wait for it, and fail. Once they have had the time to start it is tried
// anyway: the operator may be allowed what the cache is for, but no more.
func (s *source) admitted(ctx context.Context, in Target) error {
	if !s.refusedAt.IsZero() && time.Since(s.refusedAt) >= s.engine.askAgain {
		return nil
	}
	err := s.refusal(ctx, in)
	switch {
	case err == nil, s.isNamespaced() && s.engine.isConfined(ctx, in):
		s.refusedAt = time.Time{}
		return nil
	case s.refusedAt.IsZero():
		s.refusedAt = time.Now()
	}
	return err
}

// isConfined reports whether a cache is one of chosen namespaces, as its informer of the primaries shows: then the
// operator need not be allowed more.
func (e *Engine) isConfined(ctx context.Context, in Target) bool {
	primary, ok := e.newPrimary().(client.Object)
	if !ok {
		return false
	}
	informer, err := in.GetCache().GetInformer(ctx, primary, cache.BlockUntilSynced(false))
	_, isSingle := informer.(toolscache.SharedIndexInformer)
	return err == nil && !isSingle
}

func (e *Engine) newPrimary() runtime.Object {
	if primary, err := e.target.GetClient().Scheme().New(e.options.Primary); err == nil {
		return primary
	}
	primary := &unstructured.Unstructured{}
	primary.SetGroupVersionKind(e.options.Primary)
	return primary
}

// refusal asks the API server why a cache doesn't sync: an informer keeps that to itself. It returns nil if nothing
// speaks against it.
func (s *source) refusal(ctx context.Context, in Target) error {
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(s.gvk.GroupVersion().WithKind(s.gvk.Kind + "List"))
	if err := in.GetAPIReader().List(ctx, list, client.Limit(1)); err != nil {
		return &refusedError{classify(
			s.gvk.GroupKind(), "listing "+s.gvk.Kind+", which the operator must be able to list and watch", err)}
	}
	return nil
}

// SPDX-License-Identifier: Apache-2.0

package dependent

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/espalier-dev/espalier/workflow"
)

// explain says what was being written. The server's message may hold the object's own values, so it is never passed on
// whole: its causes' paths and its last clause are, and of a Secret the paths alone.
func (w *write[P, T]) explain(ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case isUnknownPath(err):
		return w.object.source.doubt(ctx)
	case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		return workflow.RetryAfter(workflow.NotYet("NamespaceTerminating", "namespace %q is being deleted",
			w.draft.name.Namespace), lookForNamespace)
	case isMissingNamespace(err):
		return workflow.RetryAfter(workflow.NotYet("NamespaceMissing", "there is no namespace %q",
			w.draft.name.Namespace), lookForNamespace)
	}
	return classify(w.object.source.gvk.GroupKind(), fmt.Sprintf("applying %s", w.name()), err)
}

// lookForNamespace is after how long a write is tried again that had no namespace: these aren't watched.
const lookForNamespace = 10 * time.Second

func isMissingNamespace(err error) bool {
	var status apierrors.APIStatus
	return apierrors.IsNotFound(err) && errors.As(err, &status) && status.Status().Details != nil &&
		status.Status().Details.Kind == "namespaces"
}

func classify(kind schema.GroupKind, doing string, err error) error {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return &serverError{text: doing + ": " + withoutAddresses(err), cause: err}
	}
	s := status.Status()
	out := error(&serverError{text: doing + ": " + summary(kind, s), cause: err})
	switch {
	case strings.Contains(s.Message, untypable):
		out = workflow.Terminal(workflow.Because("Invalid", out))
	case apierrors.IsInvalid(err), apierrors.IsBadRequest(err):
		// It isn't for good: a port may be given back, a policy lifted.
		out = workflow.Because("Invalid", out)
	case apierrors.IsForbidden(err):
		out = workflow.Because("Forbidden", out)
	}
	if after, ok := apierrors.SuggestsClientDelay(err); ok && after > 0 {
		out = workflow.RetryAfter(out, time.Duration(after)*time.Second)
	}
	return out
}

// withoutAddresses is the message of an error on the way to the server. Its addresses are left out: that of our own end
// differs every time, and each new message would be a status write.
func withoutAddresses(err error) string {
	if op, ok := errors.AsType[*net.OpError](err); ok {
		return op.Op + ": " + op.Err.Error()
	}
	if request, ok := errors.AsType[*url.Error](err); ok {
		return request.Err.Error()
	}
	return err.Error()
}

// serverError shows what may be shown, and is still the server's error to errors.Is and As.
type serverError struct {
	text  string
	cause error
}

func (e *serverError) Error() string { return e.text }

func (e *serverError) Unwrap() error { return e.cause }

const (
	maxClause = 200
	// untypable begins the message of a 500 that is the intent's fault: a field that the schema doesn't have.
	untypable = "failed to create typed patch object"
)

func summary(kind schema.GroupKind, s metav1.Status) string {
	parts := []string{string(s.Reason)}
	if s.Reason == "" {
		parts[0] = fmt.Sprintf("status %d", s.Code)
	}
	if s.Details != nil {
		for _, c := range s.Details.Causes {
			if c.Field != "" {
				parts = append(parts, c.Field)
			}
		}
	}
	text := strings.Join(parts, " ")
	if kind == secrets() {
		return text
	}
	if clause := lastClause(s.Message); clause != "" {
		text += ": " + clause
	}
	return text
}

// lastClause is what remains of a message without the object and its values; "" if it ends in a value. Beyond the first
// line some messages show how the object differs.
func lastClause(message string) string {
	message, _, _ = strings.Cut(message, "\n")
	at := strings.LastIndex(message, ": ")
	before, clause := message[:max(at, 0)], strings.TrimSpace(message[at+1:])
	isValue := strings.HasSuffix(before, " value") && !strings.HasSuffix(before, "Required value")
	if isInsideValue := strings.Count(clause, `"`)%2 > 0; isValue || isInsideValue {
		return ""
	}
	if !strings.Contains(clause, "[") {
		clause = strings.TrimSuffix(clause, "]") // of a list of errors
	}
	if runes := []rune(clause); len(runes) > maxClause {
		clause = string(runes[:maxClause-1]) + "…"
	}
	return clause
}

func secrets() schema.GroupKind { return schema.GroupKind{Kind: "Secret"} }

// SPDX-License-Identifier: Apache-2.0

package envtest

import (
	"net/http"
	"strings"
	"time"
)

// The verbs of requests that a test looks at most; the others are list, get, update, patch, delete and
// deletecollection, as in RBAC.
const (
	verbWatch = "watch"
	verbApply = "apply"
)

// Request is one request to an API server, as it went over the wire.
type Request struct {
	// Time is when it was sent.
	Time time.Time
	// Method is the HTTP method.
	Method string
	// Path is the URL's path, without the query.
	Path string

	// Verb is the verb as in RBAC (get, list, watch, create, update, patch, delete, deletecollection), or apply for
	// a server-side apply. For what isn't a resource, such as discovery, it is the method in lower case.
	Verb string
	// Group is the API group; empty for the core group and for what isn't a resource.
	Group string
	// Version is the version in the group; empty for what isn't a resource.
	Version string
	// Resource is the resource in plural; empty for what isn't a resource.
	Resource string
	// Subresource is the subresource, such as status; mostly empty.
	Subresource string
	// Namespace is the object's namespace; empty for cluster-scoped resources and across namespaces.
	Namespace string
	// Name is the object's name; empty for collections and for created objects.
	Name string
}

// newRequest reads what a request is about.
func newRequest(r *http.Request, now time.Time) Request {
	q := Request{Time: now, Method: r.Method, Path: r.URL.Path, Verb: strings.ToLower(r.Method)}
	if q.readPath() {
		q.Verb = q.resourceVerb(r)
	}
	return q
}

// readPath takes the path apart and tells whether it is a resource's:
// /api/VERSION or /apis/GROUP/VERSION, then [namespaces/NAMESPACE/]RESOURCE[/NAME[/SUBRESOURCE]].
func (q *Request) readPath() bool {
	parts := strings.Split(strings.Trim(q.Path, "/"), "/")
	switch {
	case parts[0] == "api" && len(parts) > 2:
		q.Version, parts = parts[1], parts[2:]
	case parts[0] == "apis" && len(parts) > 3:
		q.Group, q.Version, parts = parts[1], parts[2], parts[3:]
	default:
		return false
	}
	if parts[0] == "namespaces" && len(parts) > 2 && parts[2] != "status" && parts[2] != "finalize" {
		q.Namespace, parts = parts[1], parts[2:]
	}
	for i, field := range []*string{&q.Resource, &q.Name, &q.Subresource} {
		if i < len(parts) {
			*field = parts[i]
		}
	}
	return true
}

// resourceVerb is the verb of a request for a resource.
func (q *Request) resourceVerb(r *http.Request) string {
	switch r.Method {
	case http.MethodGet, http.MethodHead:
		return q.readVerb(r)
	case http.MethodPost:
		return "create"
	case http.MethodPut:
		return "update"
	case http.MethodPatch:
		if strings.HasPrefix(r.Header.Get("Content-Type"), "application/apply-patch") {
			return verbApply
		}
		return "patch"
	case http.MethodDelete:
		if q.Name == "" {
			return "deletecollection"
		}
		return "delete"
	default:
		return q.Verb
	}
}

// readVerb tells the ways of reading apart.
func (q *Request) readVerb(r *http.Request) string {
	switch {
	case isTrue(r.URL.Query().Get("watch")):
		return verbWatch
	case q.Name == "":
		return "list"
	default:
		return "get"
	}
}

// isTrue reads a flag of a query as the API server does.
func isTrue(value string) bool { return value != "" && value != "0" && value != "false" }

// Operation is what is counted: verb, resource with group, subresource, as in
// "apply deployments.apps/status" or "list configmaps"; for what isn't a resource verb and path, as in "get /apis".
func (q Request) Operation() string {
	if q.Resource == "" {
		return q.Verb + " " + q.Path
	}
	text := q.Verb + " " + q.Resource
	if q.Group != "" {
		text += "." + q.Group
	}
	if q.Subresource != "" {
		text += "/" + q.Subresource
	}
	return text
}

// String is the operation with the object or its namespace, as in "get configmaps default/web" or "list configmaps in
// default".
func (q Request) String() string {
	text := q.Operation()
	switch {
	case q.Name == "" && q.Namespace == "":
		return text
	case q.Name == "":
		return text + " in " + q.Namespace
	case q.Namespace == "":
		return text + " " + q.Name
	default:
		return text + " " + q.Namespace + "/" + q.Name
	}
}

// Background tells whether a client at rest may send the request: watches, which end by themselves after some
// minutes and are renewed, and everything about leases, by which leaders are elected.
func (q Request) Background() bool {
	return q.Verb == verbWatch || q.Group == "coordination.k8s.io" && q.Resource == "leases"
}

// Write tells whether the request may change something.
func (q Request) Write() bool {
	return q.Method != http.MethodGet && q.Method != http.MethodHead && q.Method != http.MethodOptions
}

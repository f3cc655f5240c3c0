// SPDX-License-Identifier: Apache-2.0

package envtest_test

import (
	"net/http"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"k8s.io/client-go/rest"

	"github.com/espalier-dev/espalier/envtest"
)

// emptyServer answers everything with nothing.
type emptyServer struct{}

func (emptyServer) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody}, nil
}

// send sends a request through a recorded client; line is "METHOD PATH [CONTENT-TYPE]".
func send(t *testing.T, requests *envtest.Requests, line string) {
	t.Helper()
	client, err := rest.HTTPClientFor(requests.Wrap(&rest.Config{Transport: emptyServer{}}))
	if err != nil {
		t.Fatal(err)
	}
	fields := append(strings.Fields(line), "")
	r, err := http.NewRequestWithContext(t.Context(), fields[0], "http://server"+fields[1], http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", fields[2])
	response, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
}

func TestRequestIsRead(t *testing.T) {
	tests := []struct {
		line           string
		want           string
		wantBackground bool
		wantWrite      bool
	}{
		{line: "GET /api/v1/namespaces/n/configmaps/a", want: "get configmaps n/a"},
		{line: "GET /api/v1/namespaces/n/configmaps", want: "list configmaps in n"},
		{line: "GET /api/v1/configmaps?watch=false", want: "list configmaps"},
		{line: "GET /api/v1/configmaps?watch=true", want: "watch configmaps", wantBackground: true},
		{
			line:           "GET /apis/apps/v1/namespaces/n/deployments?allowWatchBookmarks=true&watch=1",
			want:           "watch deployments.apps in n",
			wantBackground: true,
		},
		{line: "GET /api/v1/namespaces", want: "list namespaces"},
		{line: "GET /api/v1/namespaces/n", want: "get namespaces n"},
		{line: "GET /api/v1/namespaces/n/pods/p/log", want: "get pods/log n/p"},
		{line: "POST /apis/apps/v1/namespaces/n/deployments", want: "create deployments.apps in n", wantWrite: true},
		{line: "PUT /api/v1/namespaces/n/finalize", want: "update namespaces/finalize n", wantWrite: true},
		{line: "PATCH /api/v1/namespaces/n/status", want: "patch namespaces/status n", wantWrite: true},
		{line: "DELETE /api/v1/namespaces/n/pods/p", want: "delete pods n/p", wantWrite: true},
		{line: "DELETE /api/v1/namespaces/n/pods", want: "deletecollection pods in n", wantWrite: true},
		{
			line:      "PATCH /apis/apps/v1/namespaces/n/deployments/a application/merge-patch+json",
			want:      "patch deployments.apps n/a",
			wantWrite: true,
		},
		{
			line:      "PATCH /apis/g.example/v1/namespaces/n/widgets/a/status application/apply-patch+yaml",
			want:      "apply widgets.g.example/status n/a",
			wantWrite: true,
		},
		{
			line:           "PUT /apis/coordination.k8s.io/v1/namespaces/n/leases/leader",
			want:           "update leases.coordination.k8s.io n/leader",
			wantBackground: true,
			wantWrite:      true,
		},
		{line: "GET /api", want: "get /api"},
		{line: "GET /api/v1", want: "get /api/v1"},
		{line: "GET /apis/apps/v1", want: "get /apis/apps/v1"},
		{line: "GET /openapi/v3", want: "get /openapi/v3"},
		{line: "GET /", want: "get /"},
	}
	for _, tt := range tests {
		t.Run(tt.line, func(t *testing.T) {
			var requests envtest.Requests
			send(t, &requests, tt.line)
			log := requests.Since(0)
			g := NewWithT(t)
			g.Expect(log).To(HaveLen(1))
			g.Expect(log[0].String()).To(Equal(tt.want))
			g.Expect(log[0].Background()).To(Equal(tt.wantBackground))
			g.Expect(log[0].Write()).To(Equal(tt.wantWrite))
		})
	}
}

func TestRequestKeepsItsParts(t *testing.T) {
	var requests envtest.Requests
	send(t, &requests, "PATCH /apis/apps/v1/namespaces/n/deployments/a/scale?force=true application/apply-patch+yaml")
	got := requests.Since(0)[0]
	g := NewWithT(t)
	g.Expect(got.Time).NotTo(BeZero())
	got.Time = envtest.Request{}.Time
	g.Expect(got).To(Equal(envtest.Request{
		Method:      "PATCH",
		Path:        "/apis/apps/v1/namespaces/n/deployments/a/scale",
		Verb:        "apply",
		Group:       "apps",
		Version:     "v1",
		Resource:    "deployments",
		Subresource: "scale",
		Namespace:   "n",
		Name:        "a",
	}))
}

// SPDX-License-Identifier: Apache-2.0

package main

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/espalier-dev/espalier/envtest"
)

// The requests of a step that creates a Service and a ConfigMap.
func created() envtest.RequestLog {
	webapp := envtest.Request{
		Method: http.MethodPatch, Verb: "apply", Group: "webapp.example.espalier.dev", Resource: "webapps", Name: "shop",
	}
	status := webapp
	status.Subresource = "status"
	return envtest.RequestLog{
		webapp,
		{Method: http.MethodPatch, Verb: "apply", Resource: "services", Name: "shop"},
		{Method: http.MethodGet, Verb: "get", Resource: "services", Name: "shop"},
		status,
		{Method: http.MethodPatch, Verb: "apply", Resource: "configmaps", Name: "shop-config"},
		status,
	}
}

func TestStory(t *testing.T) {
	a := account{took: 1200 * time.Millisecond, requests: created()}
	want := `1.2 s, requests by the operator: 6, writes: 5
   1 × apply finalizer  shop
   1 × apply svc        shop
   2 × apply status     shop
   1 × apply cm         shop-config`
	if diff := cmp.Diff(want, a.story(80)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff("0.0 s, requests by the operator: 0, writes: 0", (&account{}).story(80)); diff != "" {
		t.Errorf("of nothing (-want +got):\n%s", diff)
	}
}

func TestSoFar(t *testing.T) {
	const total = "0.0 s, requests by the operator: 0, writes: 0"
	for _, test := range []struct {
		name    string
		account account
		want    string
	}{
		{"nothing yet", account{}, total},
		{
			"a write",
			account{requests: created()},
			"0.0 s, requests by the operator: 6, writes: 5   the last: apply status shop",
		},
		{"a note", account{step: step{note: func(*account) string { return "resting" }}}, total + "   resting"},
	} {
		if got := test.account.soFar(); got != test.want {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
}

// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/espalier-dev/espalier/envtest"
)

func TestDeleted(t *testing.T) {
	log := envtest.RequestLog{
		{Verb: "delete", Resource: "ingresses", Name: "shop"},
		{Verb: "delete", Resource: "deployments", Name: "blog"},
		{Verb: "get", Resource: "ingresses", Name: "shop"},
		{Verb: "delete", Resource: "widgets", Name: "shop-db"},
		{Verb: "delete", Resource: "services", Name: "shopping"},
	}
	if diff := cmp.Diff([]string{"ing/shop", "widgets/shop-db"}, deleted(log, "shop")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

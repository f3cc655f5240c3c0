// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestTable(t *testing.T) {
	accounts := []*account{
		{step: step{name: "create"}, took: 12 * time.Second, requests: created()},
		{step: step{name: "rest"}, took: 300 * time.Millisecond},
	}
	want := `step    sec req cm secret svc sts job deploy ing hpa finalizer status
create 12.0   6  1      ·   1   ·   ·      ·   ·   ·         1      2
rest    0.3   0  ·      ·   ·   ·   ·      ·   ·   ·         ·      ·
`
	if diff := cmp.Diff(want, table(accounts)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestOverspent(t *testing.T) {
	within := &account{
		step: step{name: "within", limits: map[string]int{
			finalizerWrite: 1, "apply services": 1, "apply configmaps": 2,
		}},
		requests: created(), runs: runs{all: 5, news: 2},
	}
	if err := overspent([]*account{within}); err != nil {
		t.Errorf("within its limits: %v", err)
	}
	beyond := &account{
		step:     step{name: "beyond", limits: map[string]int{finalizerWrite: 1, "apply configmaps": 1}},
		requests: created(), runs: runs{all: 5, news: 1},
	}
	err := overspent([]*account{within, beyond})
	if err == nil {
		t.Fatal("beyond its limits: no error")
	}
	want := `step "beyond": 1 × apply services: want at most 0
step "beyond": 2 × apply webapps.webapp.example.espalier.dev/status: want at most 1`
	if diff := cmp.Diff(want, err.Error()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

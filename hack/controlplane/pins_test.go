// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func testPins() pins { return pins{kubernetes: "v1.2.3", etcd: "v3.4.5", kwok: "v0.6.7"} }

func TestReadPins(t *testing.T) {
	tests := []struct {
		name    string
		goMod   string
		want    pins
		wantErr string
	}{
		{
			name: "block, with comments and replacements",
			goMod: `module m // k8s.io/kubernetes v9.9.9
require (
	go.etcd.io/etcd/server/v3 v3.4.5 // indirect
	k8s.io/kubernetes v1.2.3
	// sigs.k8s.io/kwok v9.9.9
	sigs.k8s.io/kwok v0.6.7
)
replace (
	k8s.io/kubernetes => k8s.io/kubernetes v8.8.8
	sigs.k8s.io/kwok v7.7.7
)
tool k8s.io/kubernetes/cmd/kube-apiserver
`,
			want: testPins(),
		},
		{
			name: "single lines",
			goMod: "require k8s.io/kubernetes v1.2.3\nrequire go.etcd.io/etcd/server/v3 v3.4.5\n" +
				"require sigs.k8s.io/kwok v0.6.7\n",
			want: testPins(),
		},
		{
			name:    "one is missing",
			goMod:   "require k8s.io/kubernetes v1.2.3\nrequire go.etcd.io/etcd/server/v3 v3.4.5\n",
			wantErr: "go.mod doesn't require sigs.k8s.io/kwok",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := readPins(tt.goMod)
			if tt.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), tt.wantErr) {
					t.Fatalf("readPins() = %v, want an error with %q", err, tt.wantErr)
				}
				return
			}
			if err != nil || got != tt.want {
				t.Errorf("readPins() = %+v, %v, want %+v", got, err, tt.want)
			}
		})
	}
}

func TestReadPinsOfThisModule(t *testing.T) {
	goMod, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	got, err := readPins(string(goMod))
	if err != nil {
		t.Fatal(err)
	}
	for _, version := range []string{got.kubernetes, got.etcd, got.kwok} {
		if !strings.HasPrefix(version, "v") {
			t.Errorf("readPins() of go.mod has version %q, want one with a leading v", version)
		}
	}
}

func TestFolder(t *testing.T) {
	got := testPins().folder("/cache", "plan9", "mips")
	want := filepath.FromSlash("/cache/controlplane/kubernetes-v1.2.3-etcd-v3.4.5-kwok-v0.6.7-plan9-mips")
	if got != want {
		t.Errorf("folder() = %s, want %s", got, want)
	}
}

func TestCacheRoot(t *testing.T) {
	abs := t.TempDir()
	tests := []struct {
		name     string
		env      string
		cacheErr error
		want     string
		wantErr  string
	}{
		{name: "user's cache", want: filepath.Join(abs, "espalier")},
		{name: "override", env: filepath.Join(abs, "x") + "/", cacheErr: errors.New("no home"), want: filepath.Join(abs, "x")},
		{name: "relative override", env: "x", wantErr: "set it to an absolute path"},
		{name: "no user's cache", cacheErr: errors.New("no home"), wantErr: "set ESPALIER_CACHE"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			env := func(name string) string { return map[string]string{"ESPALIER_CACHE": tt.env}[name] }
			got, err := cacheRoot(env, func() (string, error) { return abs, tt.cacheErr })
			if tt.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), tt.wantErr) {
					t.Fatalf("cacheRoot() = %v, want an error with %q", err, tt.wantErr)
				}
				return
			}
			if err != nil || got != tt.want {
				t.Errorf("cacheRoot() = %s, %v, want %s", got, err, tt.want)
			}
		})
	}
}

// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestPrint(t *testing.T) {
	root := t.TempDir()
	t.Setenv("ESPALIER_CACHE", root)
	out, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = out.Close() }()
	if err := run(t.Context(), []string{"-print"}, out); err != nil {
		t.Fatalf("run() = %v", err)
	}
	got, err := os.ReadFile(out.Name())
	if err != nil {
		t.Fatal(err)
	}
	if want := filepath.Join(root, "controlplane", "kubernetes-v"); !strings.HasPrefix(string(got), want) {
		t.Errorf("-print printed %q, want it to begin with %q", got, want)
	}
	if entries, err := os.ReadDir(root); err != nil || len(entries) > 0 {
		t.Errorf("-print made %v, %v, want nothing", entries, err)
	}
}

func TestRunNeedsItsModule(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := run(t.Context(), nil, os.Stdout); err == nil || !strings.Contains(err.Error(), "hack/controlplane") {
		t.Errorf("run() elsewhere = %v, want it to name the folder", err)
	}
}

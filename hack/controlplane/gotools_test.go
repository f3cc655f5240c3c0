// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/rand"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestBuildLog(t *testing.T) {
	var reported []string
	log := &buildLog{report: func(pkg string) { reported = append(reported, pkg) }}
	for _, piece := range []string{
		"go: downloading k8s.io/api v1\nk8s.io/", "api/core\n# example.com/x\n", "x.go:1:2: undefined: y\ntoo many",
	} {
		if n, err := log.Write([]byte(piece)); n != len(piece) || err != nil {
			t.Fatalf("Write() = %d, %v", n, err)
		}
	}
	if want := []string{"", "k8s.io/api/core"}; !slices.Equal(reported, want) {
		t.Errorf("reported %q, want %q", reported, want)
	}
	err := log.err()
	for _, want := range []string{"# example.com/x", "undefined: y", "too many"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("err() = %v, want it to have %q", err, want)
		}
	}
}

func TestBuildLogKeepsTheEnd(t *testing.T) {
	log := &buildLog{}
	for range 100 {
		log.take("x.go:1:2: early")
	}
	log.take("x.go:1:2: late")
	if len(log.complaints) != 40 || !strings.Contains(log.err().Error(), "late") {
		t.Errorf("kept %d lines, want the last 40", len(log.complaints))
	}
}

// writeMain makes a module with one program and makes it the working directory.
func writeMain(t *testing.T, source string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{"go.mod": "module example.com/x\n\ngo 1.26\n", "main.go": source} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestGoToolsBuild(t *testing.T) {
	t.Setenv("PATH", withoutCompilers(t))
	// New source each time: the go command reports only what it compiles.
	writeMain(t, "package main\n\nfunc main() { println(\""+rand.Text()+"\") }\n")
	output := filepath.Join(t.TempDir(), "x")
	var reported []string
	err := goTools{}.build(t.Context(), program{pkg: "example.com/x"}, output, func(pkg string) {
		reported = append(reported, pkg)
	})
	if err != nil {
		t.Fatalf("build() without a C compiler = %v", err)
	}
	if _, err := os.Stat(output); err != nil {
		t.Errorf("build() wrote nothing: %v", err)
	}
	if !slices.Contains(reported, "example.com/x") {
		t.Errorf("reported %q, want the package in it", reported)
	}
}

func TestGoToolsBuildShowsWhatIsWrong(t *testing.T) {
	writeMain(t, "package main\n\nfunc main() { undefined() }\n")
	p := program{pkg: "example.com/x"}
	err := goTools{}.build(t.Context(), p, filepath.Join(t.TempDir(), "x"), func(string) {})
	if err == nil || !strings.Contains(err.Error(), "undefined: undefined") {
		t.Errorf("build() = %v, want the compiler's words", err)
	}
}

func TestGoToolsBuildStopsWithItsContext(t *testing.T) {
	writeMain(t, "package main\n\nfunc main() {}\n")
	ctx, stop := context.WithCancel(t.Context())
	stop()
	output := filepath.Join(t.TempDir(), "x")
	if err := (goTools{}).build(ctx, program{pkg: "example.com/x"}, output, func(string) {}); err == nil {
		t.Error("build() with an ended context = nil, want an error")
	}
	if _, err := os.Stat(output); !os.IsNotExist(err) {
		t.Errorf("build() left a file: %v", err)
	}
}

// withoutCompilers is a search path with the go command alone.
func withoutCompilers(t *testing.T) string {
	t.Helper()
	goCommand, err := exec.LookPath("go")
	if err != nil {
		t.Skipf("no go command: %v", err)
	}
	return filepath.Dir(goCommand)
}

// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// fakeTools builds by writing a line. It fails, or ends the context, at the program named.
type fakeTools struct {
	module string
	failAt string
	stopAt string
	stop   context.CancelFunc
	begun  chan struct{} // receives once per build, unless nil
	resume chan struct{} // each build waits for it, unless nil

	mu    sync.Mutex
	built []string
}

func (f *fakeTools) build(ctx context.Context, p program, output string, report func(string)) error {
	f.mu.Lock()
	f.built = append(f.built, p.name)
	f.mu.Unlock()
	report(p.pkg)
	if f.begun != nil {
		f.begun <- struct{}{}
		<-f.resume
	}
	if err := os.WriteFile(output, []byte("half"), 0o755); err != nil {
		return err
	}
	if p.name == f.failAt {
		return errors.New("doesn't compile")
	}
	if p.name == f.stopAt {
		f.stop()
		return ctx.Err()
	}
	return os.WriteFile(output, []byte("whole "+p.name), 0o755)
}

func (f *fakeTools) moduleFolder(context.Context, string) (string, error) { return f.module, nil }

// newModule lays out KWOK's sources as far as they matter.
func newModule(t *testing.T) string {
	t.Helper()
	module := t.TempDir()
	for name, content := range map[string]string{
		"node/fast/node.yaml":          "apiVersion: v1\nkind: Stage\n",
		"node/fast/kustomization.yaml": "kind: Kustomization\n",
		"node/fast/testdata/x.yaml":    "\nkind: Stage\n",
		"pod/fast/pod.yaml":            "apiVersion: v1\nkind: Stage\n",
	} {
		file := filepath.Join(module, "kustomize", "stage", filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return module
}

func newCache(folder string, tools tools) (*cache, *bytes.Buffer) {
	var out bytes.Buffer
	return &cache{
		folder:   folder,
		programs: []program{{name: "a", version: "v1"}, {name: "b", version: "v1"}, {name: "c", version: "v1"}},
		tools:    tools,
		progress: newProgress(&out, false),
	}, &out
}

// content reads all files of a folder.
func content(t *testing.T, folder string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(folder, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		name, _ := filepath.Rel(folder, path)
		files[filepath.ToSlash(name)] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func wantContent() map[string]string {
	return map[string]string{
		"a":                "whole a",
		"b":                "whole b",
		"c":                "whole c",
		"stages/node.yaml": "apiVersion: v1\nkind: Stage\n",
		"stages/pod.yaml":  "apiVersion: v1\nkind: Stage\n",
		"manifest":         "a 7\nb 7\nc 7\nstages/node.yaml 27\nstages/pod.yaml 27\n",
	}
}

func TestFillBuildsEverythingOnce(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "key")
	tools := &fakeTools{module: newModule(t)}
	c, out := newCache(folder, tools)
	if err := c.fill(t.Context()); err != nil {
		t.Fatalf("fill() = %v", err)
	}
	if got := content(t, folder); !maps.Equal(got, wantContent()) {
		t.Errorf("folder has %q, want %q", got, wantContent())
	}
	for _, want := range []string{"[1/3] a v1: building", "[3/3] c v1: built in 0s", "Built the control plane in"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("output is %q, want it to have %q", out, want)
		}
	}

	out.Reset()
	if err := c.fill(t.Context()); err != nil {
		t.Fatalf("second fill() = %v", err)
	}
	if want := "The control plane is built: " + folder + "\n"; out.String() != want {
		t.Errorf("second fill() printed %q, want %q", out, want)
	}
	if want := []string{"a", "b", "c"}; !slices.Equal(tools.built, want) {
		t.Errorf("built %v, want %v", tools.built, want)
	}
}

func TestFillGoesOnAfterInterruption(t *testing.T) {
	tests := []struct {
		name      string
		failAt    string
		stopAt    string
		wantErr   string
		wantBuilt []string
	}{
		{name: "compiler", failAt: "b", wantErr: "building b v1: doesn't compile", wantBuilt: []string{"a", "b", "b", "c"}},
		{name: "signal", stopAt: "c", wantErr: "interrupted: run it again", wantBuilt: []string{"a", "b", "c", "c"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			folder := filepath.Join(t.TempDir(), "key")
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			tools := &fakeTools{module: newModule(t), failAt: tt.failAt, stopAt: tt.stopAt, stop: stop}
			c, _ := newCache(folder, tools)
			if err := c.fill(ctx); err == nil || !strings.Contains(err.Error(), tt.wantErr) {
				t.Fatalf("fill() = %v, want an error with %q", err, tt.wantErr)
			}
			for name, text := range content(t, folder) {
				if !strings.HasPrefix(text, "whole") {
					t.Errorf("interrupted fill() left %s with %q", name, text)
				}
			}

			tools.failAt, tools.stopAt = "", ""
			if err := c.fill(t.Context()); err != nil {
				t.Fatalf("fill() again = %v", err)
			}
			if got := content(t, folder); !maps.Equal(got, wantContent()) {
				t.Errorf("folder has %q, want %q", got, wantContent())
			}
			if !slices.Equal(tools.built, tt.wantBuilt) {
				t.Errorf("built %v, want %v", tools.built, tt.wantBuilt)
			}
		})
	}
}

func TestFillReplacesLeftovers(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "key")
	tools := &fakeTools{module: newModule(t)}
	c, _ := newCache(folder, tools)
	if err := c.fill(t.Context()); err != nil {
		t.Fatal(err)
	}
	// A builder that was killed leaves a part; a full disk may cut a file short.
	for name, text := range map[string]string{"a.7.part": "half", "b": "cut"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Remove(filepath.Join(folder, "a")); err != nil {
		t.Fatal(err)
	}
	if err := c.fill(t.Context()); err != nil {
		t.Fatalf("fill() = %v", err)
	}
	if got := content(t, folder); !maps.Equal(got, wantContent()) {
		t.Errorf("folder has %q, want %q", got, wantContent())
	}
	if want := []string{"a", "b", "c", "a", "b"}; !slices.Equal(tools.built, want) {
		t.Errorf("built %v, want %v", tools.built, want)
	}
}

func TestFillTwiceAtOnceBuildsOnce(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "key")
	tools := &fakeTools{module: newModule(t), begun: make(chan struct{}), resume: make(chan struct{})}
	first, _ := newCache(folder, tools)
	second, out := newCache(folder, tools)
	waiting := make(chan struct{})
	second.progress.out = &signalWriter{to: out, signal: waiting}

	errs := make(chan error, 2)
	go func() { errs <- first.fill(t.Context()) }()
	<-tools.begun
	go func() { errs <- second.fill(t.Context()) }()
	<-waiting
	go func() {
		for range 2 {
			<-tools.begun
		}
	}()
	close(tools.resume)
	for range 2 {
		if err := <-errs; err != nil {
			t.Errorf("fill() = %v", err)
		}
	}
	if want := []string{"a", "b", "c"}; !slices.Equal(tools.built, want) {
		t.Errorf("built %v, want %v", tools.built, want)
	}
	want := "Waiting for another build of " + folder + "\nThe other build is done: " + folder + "\n"
	if out.String() != want {
		t.Errorf("second fill() printed %q, want %q", out, want)
	}
}

func TestFillStopsWaiting(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "key")
	unlock, err := lock(t.Context(), folder+".lock", func() {})
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	ctx, stop := context.WithCancel(t.Context())
	c, _ := newCache(folder, &fakeTools{})
	waiting := make(chan struct{})
	c.progress.out = &signalWriter{to: &bytes.Buffer{}, signal: waiting}
	go func() {
		<-waiting
		stop()
	}()
	if err := c.fill(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("fill() = %v, want %v", err, context.Canceled)
	}
}

// signalWriter closes a channel at the first write.
type signalWriter struct {
	to     *bytes.Buffer
	signal chan struct{}
	once   sync.Once
}

func (w *signalWriter) Write(p []byte) (int, error) {
	w.once.Do(func() { close(w.signal) })
	return w.to.Write(p)
}

// SPDX-License-Identifier: Apache-2.0

package envtest

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// newScript writes a program.
func newScript(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "it's a program")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestProcessTellsItsLastWords(t *testing.T) {
	tests := []struct {
		name, script, want string
	}{
		{
			name:   "failure",
			script: "echo one; echo two >&2; exit 7\n",
			want:   "starting a: ended early: exit status 7; its last lines:\n\tone\n\ttwo",
		},
		{name: "success", script: "exit 0\n", want: "starting a: ended by itself"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			ended := make(chan error, 1)
			p, err := startProcess(newScript(t, tt.script), (&logs{}).program("a"), func(err error) { ended <- err })
			if err != nil {
				t.Fatal(err)
			}
			if got := <-ended; got.Error() != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			p.kill()
		})
	}
}

func TestProcessThatDoesNotStart(t *testing.T) {
	_, err := startProcess(filepath.Join(t.TempDir(), "absent"), (&logs{}).program("a"), func(error) {})
	var failed *programError
	if !errors.As(err, &failed) || failed.program != "a" || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("startProcess() = %v, want a programError about an absent file", err)
	}
}

func TestPortTaken(t *testing.T) {
	tail := "x\nlisten tcp 127.0.0.1:1: bind: address already in use"
	if e := (&programError{tail: tail}); !e.portTaken() {
		t.Errorf("portTaken() = false for %q", tail)
	}
	if e := (&programError{tail: "x"}); e.portTaken() {
		t.Error("portTaken() = true, want false")
	}
}

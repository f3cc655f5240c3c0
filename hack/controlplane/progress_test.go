// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestTrack(t *testing.T) {
	tests := []struct {
		name string
		live bool
		want string
	}{
		{
			name: "terminal",
			live: true,
			want: "\r\x1b[Ka: 0s, 2 packages downloading" +
				"\r\x1b[Ka: 0s, 2 packages downloading" +
				"\r\x1b[Ka: built in 1s\n",
		},
		{
			name: "log",
			want: "a: building\na: 30s, 2 packages downloading\na: 1m0s, 2 packages downloading\na: built in 1m15s\n",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var out bytes.Buffer
				p := newProgress(&out, tt.live)
				err := p.track("a", func(report func(string)) error {
					report("x")
					report("y")
					report("")
					time.Sleep(5 * p.interval / 2)
					return nil
				})
				if err != nil {
					t.Fatalf("track() = %v", err)
				}
				if out.String() != tt.want {
					t.Errorf("track() printed %q, want %q", out.String(), tt.want)
				}
			})
		})
	}
}

func TestTrackOfFailureEndsSilently(t *testing.T) {
	var out bytes.Buffer
	want := errors.New("no")
	if err := newProgress(&out, false).track("a", func(func(string)) error { return want }); !errors.Is(err, want) {
		t.Errorf("track() = %v, want %v", err, want)
	}
	if out.String() != "a: building\n" {
		t.Errorf("track() printed %q", out.String())
	}
}

func TestLineFitsATerminal(t *testing.T) {
	s := &stepStatus{what: "a", start: time.Now()}
	var reports sync.WaitGroup
	for range 4 {
		reports.Go(func() { s.report(strings.Repeat("x", 200)) })
	}
	reports.Wait()
	if got := s.line(); len(got) != 79 || !strings.Contains(got, "4 packages") {
		t.Errorf("line() = %q", got)
	}
}

func TestFilesAreNoTerminals(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	if isTerminal(file) {
		t.Error("isTerminal() = true for a file")
	}
}

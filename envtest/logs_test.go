// SPDX-License-Identifier: Apache-2.0

package envtest

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
)

func TestLogsKeepLinesWhole(t *testing.T) {
	var out strings.Builder
	l := &logs{out: &out}
	var programs sync.WaitGroup
	for _, name := range []string{"a", "b"} {
		programs.Go(func() {
			p := l.program(name)
			for range 100 {
				for _, piece := range []string{"one ", "line\nan", "other\n"} {
					_, _ = io.WriteString(p, piece)
				}
			}
		})
	}
	programs.Wait()
	counts := map[string]int{}
	for line := range strings.Lines(out.String()) {
		counts[line]++
	}
	for _, line := range []string{"a: one line\n", "a: another\n", "b: one line\n", "b: another\n"} {
		if counts[line] != 100 {
			t.Errorf("got line %q %d times, want 100", line, counts[line])
		}
	}
	if len(counts) != 4 {
		t.Errorf("got lines %v, want 4 different ones", counts)
	}
}

func TestTailIsTheEnd(t *testing.T) {
	p := (&logs{}).program("a")
	for i := range 100 {
		_, _ = fmt.Fprintf(p, "line %d\n", i)
	}
	_, _ = io.WriteString(p, "half")
	lines := strings.Split(p.tail(), "\n")
	if len(lines) != keptLines+1 || lines[0] != "line 80" || lines[keptLines] != "half" {
		t.Errorf("tail() = %q, want lines 80 to 99 and the half one", lines)
	}
	if again := p.tail(); again != strings.Join(lines, "\n") {
		t.Errorf("tail() = %q the second time", again)
	}
}

// brokenWriter fails.
type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errors.New("broken") }

func TestBrokenOutputStopsNoProgram(t *testing.T) {
	p := (&logs{out: brokenWriter{}}).program("a")
	if n, err := io.WriteString(p, "line\n"); n != 5 || err != nil {
		t.Errorf("Write() = %d, %v, want 5 and no error", n, err)
	}
}

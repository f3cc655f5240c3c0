// SPDX-License-Identifier: Apache-2.0

package envtest

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
)

// keptLines is how much of a program's output an error shows.
const keptLines = 20

// logs brings the output of several programs into one writer, line by line.
type logs struct {
	mu  sync.Mutex
	out io.Writer // may be nil
}

// program is the writer for one program's output.
func (l *logs) program(name string) *programLog { return &programLog{name: name, logs: l} }

// print writes one line, if anybody listens.
func (l *logs) print(name string, line []byte) {
	if l.out == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	// A listener that fails must not stop the program that talks.
	_, _ = fmt.Fprintf(l.out, "%s: %s\n", name, line)
}

// programLog keeps the end of a program's output.
type programLog struct {
	name string
	logs *logs

	mu      sync.Mutex
	pending []byte
	last    []string
}

// Write takes a piece of output; it never fails.
func (p *programLog) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pending = append(p.pending, b...)
	for {
		line, rest, found := bytes.Cut(p.pending, []byte("\n"))
		if !found {
			return len(b), nil
		}
		p.logs.print(p.name, line)
		p.last = append(p.last, string(line))
		if len(p.last) > keptLines {
			p.last = p.last[1:]
		}
		p.pending = rest
	}
}

// tail is the end of the output.
func (p *programLog) tail() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	lines := p.last
	if len(p.pending) > 0 {
		lines = append(slices.Clip(lines), string(p.pending))
	}
	return strings.Join(lines, "\n")
}

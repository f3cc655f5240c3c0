// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

// interruptGrace is how long an interrupted go command may take to end by itself.
const interruptGrace = 10 * time.Second

// goTools runs the go command in the current folder. No C compiler is needed.
type goTools struct{}

var _ tools = goTools{}

func (goTools) build(ctx context.Context, p program, output string, report func(string)) error {
	log := &buildLog{report: report}
	cmd := goCommand(ctx, "build", "-v", "-mod=readonly", "-trimpath", "-ldflags", p.ldflags(), "-o", output, p.pkg)
	cmd.Stderr = log
	if err := cmd.Run(); err != nil {
		return errors.Join(fmt.Errorf("go build %s: %w", p.pkg, err), log.err())
	}
	return nil
}

func (goTools) moduleFolder(ctx context.Context, module string) (string, error) {
	var stderr strings.Builder
	cmd := goCommand(ctx, "list", "-mod=readonly", "-m", "-f", "{{.Dir}}", module)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("go list -m %s: %w\n%s", module, err, stderr.String())
	}
	folder := strings.TrimSpace(string(out))
	if folder == "" {
		return "", fmt.Errorf("module %s isn't in the module cache: run \"go mod download\"", module)
	}
	return folder, nil
}

// goCommand is a go command that is interrupted, not killed, when ctx ends, so that it removes its own temporary
// files.
func goCommand(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off")
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = interruptGrace
	return cmd
}

// buildLog reads what go build -v writes: the path of each package that it compiles, downloads, and complaints. It
// reports the first and keeps the last.
type buildLog struct {
	report     func(string)
	pending    []byte
	complaints []string
}

// Write takes a piece of output.
func (l *buildLog) Write(p []byte) (int, error) {
	l.pending = append(l.pending, p...)
	for {
		line, rest, found := bytes.Cut(l.pending, []byte("\n"))
		if !found {
			return len(p), nil
		}
		l.take(string(line))
		l.pending = rest
	}
}

// take sorts one line: a package's path is one word, and not the heading of a complaint.
func (l *buildLog) take(line string) {
	const kept = 40
	switch {
	case strings.HasPrefix(line, "go: downloading "):
		l.report("")
	case line != "" && !strings.ContainsAny(line, " \t:"):
		l.report(line)
	default:
		l.complaints = append(l.complaints, line)
		if len(l.complaints) > kept {
			l.complaints = l.complaints[1:]
		}
	}
}

// err is the end of what the compiler complained about.
func (l *buildLog) err() error {
	if len(l.pending) > 0 {
		l.take(string(l.pending))
		l.pending = nil
	}
	if len(l.complaints) == 0 {
		return nil
	}
	return errors.New(strings.Join(l.complaints, "\n"))
}

// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// How often a running step shows itself: often on a terminal, where one line is rewritten, seldom in a log.
const (
	liveInterval  = 200 * time.Millisecond
	plainInterval = 30 * time.Second
)

// progress tells a person what is going on.
type progress struct {
	out      io.Writer
	live     bool // out is a terminal
	interval time.Duration
	start    time.Time
}

func newProgress(out io.Writer, live bool) *progress {
	interval := plainInterval
	if live {
		interval = liveInterval
	}
	return &progress{out: out, live: live, interval: interval, start: time.Now()}
}

// say prints a line.
func (p *progress) say(format string, args ...any) {
	_, _ = fmt.Fprintf(p.out, format+"\n", args...)
}

// sinceStart is the time since the program began.
func (p *progress) sinceStart() time.Duration { return elapsed(p.start) }

// track runs a step and shows it meanwhile: what, how long, how many packages. The step calls its argument with each
// package that is done.
func (p *progress) track(what string, step func(report func(pkg string)) error) error {
	s := &stepStatus{what: what, start: time.Now()}
	if !p.live {
		p.say("%s: building", what)
	}
	stop := make(chan struct{})
	var shown sync.WaitGroup
	shown.Go(func() { p.show(s, stop) })
	err := step(s.report)
	close(stop)
	shown.Wait()
	p.clear()
	if err == nil {
		p.say("%s: built in %s", what, elapsed(s.start))
	}
	return err
}

// show prints a step's status again and again until stop is closed.
func (p *progress) show(s *stepStatus, stop <-chan struct{}) {
	tick := time.NewTicker(p.interval)
	defer tick.Stop()
	for {
		select {
		case <-stop:
			return
		case <-tick.C:
		}
		if p.live {
			p.clear()
			_, _ = fmt.Fprint(p.out, s.line())
		} else {
			p.say("%s", s.line())
		}
	}
}

// clear empties the terminal's current line.
func (p *progress) clear() {
	if p.live {
		_, _ = fmt.Fprint(p.out, "\r\x1b[K")
	}
}

// stepStatus is what is known about the running step.
type stepStatus struct {
	what  string
	start time.Time

	mu       sync.Mutex
	packages int
	latest   string
}

// report notes a package; an empty one stands for a download.
func (s *stepStatus) report(pkg string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if pkg == "" {
		s.latest = "downloading"
		return
	}
	s.packages++
	s.latest = pkg
}

// line is the status in at most one line of a terminal.
func (s *stepStatus) line() string {
	const width = 79
	s.mu.Lock()
	defer s.mu.Unlock()
	line := fmt.Sprintf("%s: %s, %d packages %s", s.what, elapsed(s.start), s.packages, s.latest)
	return line[:min(len(line), width)]
}

// elapsed is the time since start in whole seconds.
func elapsed(start time.Time) time.Duration { return time.Since(start).Round(time.Second) }

// isTerminal tells whether a person watches the file.
func isTerminal(file *os.File) bool {
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0 && os.Getenv("TERM") != "dumb"
}

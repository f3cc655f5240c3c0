// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"golang.org/x/term"
)

// display prints lines, which stay. On a terminal a picture may stand below them: it is drawn over until the next line.
// It is safe for concurrent use.
type display struct {
	out   io.Writer
	live  bool // a terminal
	color bool
	size  func() (width, height int)

	mutex   sync.Mutex
	picture []string // what stands right above the cursor and may be drawn over
}

// frameInterval is how often a picture is drawn.
const frameInterval = 50 * time.Millisecond

func newDisplay(out *os.File) *display {
	fd := int(out.Fd())
	d := &display{out: out, live: term.IsTerminal(fd) && os.Getenv("TERM") != "dumb"}
	d.color = d.live && os.Getenv("NO_COLOR") == ""
	d.size = func() (int, int) {
		width, height, err := term.GetSize(fd)
		if !d.live || err != nil || width <= 0 || height <= 0 {
			return 100, 24
		}
		return width, height
	}
	return d
}

// title begins something new.
func (d *display) title(text string) { d.print("\n" + bold("▸ "+text, d.color) + "\n") }

// say prints indented lines.
func (d *display) say(format string, args ...any) {
	var out strings.Builder
	for line := range strings.Lines(fmt.Sprintf(format, args...)) {
		out.WriteString(strings.TrimRight("  "+line, " \n") + "\n")
	}
	d.print(out.String())
}

// print leaves the picture where it is; there is nothing to be done if it fails.
func (d *display) print(text string) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	d.picture = nil
	_, _ = io.WriteString(d.out, text)
}

// animate draws what frame returns, again and again, until it is stopped. It does nothing off terminals.
func (d *display) animate(frame func(width, height int) []string) (stop func()) {
	if !d.live {
		return func() {}
	}
	var drawing sync.WaitGroup
	done := make(chan struct{})
	drawing.Go(func() {
		ticker := time.NewTicker(frameInterval)
		defer ticker.Stop()
		for {
			d.draw(frame(d.size()))
			select {
			case <-done:
				return
			case <-ticker.C:
			}
		}
	})
	return func() {
		close(done)
		drawing.Wait()
	}
}

// draw replaces the picture by lines no wider than the terminal.
func (d *display) draw(lines []string) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	if d.live {
		_, _ = io.WriteString(d.out, redraw(d.picture, lines))
		d.picture = lines
		return
	}
	for _, line := range lines {
		_, _ = fmt.Fprintln(d.out, line)
	}
}

// redraw is what turns one picture into the next: lines that are the same are passed over, so that nothing flickers.
func redraw(before, after []string) string {
	var out strings.Builder
	if len(before) > 0 {
		fmt.Fprintf(&out, "\x1b[%dA", len(before))
	}
	for i, line := range after {
		if i >= len(before) || before[i] != line {
			out.WriteString(line + "\x1b[K")
		}
		out.WriteByte('\n')
	}
	if len(before) > len(after) {
		out.WriteString("\x1b[J")
	}
	return out.String()
}

// fit cuts a picture to the height that there is, and says so.
func fit(lines []string, height int) []string {
	if len(lines) <= height {
		return lines
	}
	if height <= 0 {
		return nil
	}
	kept := height - 1
	return append(lines[:kept:kept], fmt.Sprintf("  … and %d more lines", len(lines)-kept))
}

// cut shortens a line without escapes.
func cut(line string, width int) string {
	if utf8.RuneCountInString(line) <= width {
		return line
	}
	return string([]rune(line)[:max(width-1, 0)]) + "…"
}

// wrap writes a head and items, and begins a new line below the first item where the width doesn't suffice.
func wrap(head string, items []string, separator string, width int) string {
	out, indent := head, utf8.RuneCountInString(head)
	at := indent
	for i, item := range items {
		if i > 0 {
			out += separator
			at += utf8.RuneCountInString(separator)
		}
		length := utf8.RuneCountInString(item)
		if i > 0 && at+length > width {
			out = strings.TrimRight(out, " ") + "\n" + strings.Repeat(" ", indent)
			at = indent
		}
		out += item
		at += length
	}
	return out
}

func bold(text string, color bool) string {
	if color {
		return "\x1b[1m" + text + "\x1b[0m"
	}
	return text
}

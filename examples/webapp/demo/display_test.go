// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRedraw(t *testing.T) {
	for _, test := range []struct {
		name          string
		before, after []string
		want          string
	}{
		{"the first", nil, []string{"a", "b"}, "a\x1b[K\nb\x1b[K\n"},
		{"the same", []string{"a", "b"}, []string{"a", "b"}, "\x1b[2A\n\n"},
		{"one line differs", []string{"a", "b", "c"}, []string{"a", "x", "c"}, "\x1b[3A\nx\x1b[K\n\n"},
		{"longer", []string{"a"}, []string{"a", "b"}, "\x1b[1A\nb\x1b[K\n"},
		{"shorter", []string{"a", "b"}, []string{"a"}, "\x1b[2A\n\x1b[J"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := redraw(test.before, test.after); got != test.want {
				t.Errorf("got %q: want %q", got, test.want)
			}
		})
	}
}

func TestDisplay(t *testing.T) {
	for _, test := range []struct {
		name string
		live bool
		want string
	}{
		{"a terminal", true, "\n▸ step\npicture\x1b[K\n\x1b[1A\n  one\n\n  two\npicture\x1b[K\n"},
		{"no terminal", false, "\n▸ step\npicture\npicture\n  one\n\n  two\npicture\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var out strings.Builder
			d := &display{out: &out, live: test.live}
			d.title("step")
			d.draw([]string{"picture"})
			d.draw([]string{"picture"})
			d.say("one\n\n%s\n", "two")
			d.draw([]string{"picture"})
			if diff := cmp.Diff(test.want, out.String()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestAnimate(t *testing.T) {
	var out strings.Builder
	d := &display{out: &out, live: true, size: func() (int, int) { return 80, 24 }}
	frames := 0
	stop := d.animate(func(width, height int) []string {
		frames++
		if width != 80 || height != 24 {
			t.Errorf("size %d × %d: want 80 × 24", width, height)
		}
		return []string{"frame"}
	})
	stop()
	if frames == 0 || !strings.HasPrefix(out.String(), "frame") {
		t.Errorf("%d frames, which are %q", frames, out.String())
	}
	out.Reset()
	(&display{out: &out}).animate(func(int, int) []string { return []string{"frame"} })()
	if out.Len() > 0 {
		t.Errorf("no terminal: got %q", out.String())
	}
}

func TestFit(t *testing.T) {
	for _, test := range []struct {
		name   string
		height int
		want   []string
	}{
		{"enough", 3, []string{"a", "b", "c"}},
		{"too low", 2, []string{"a", "  … and 2 more lines"}},
		{"hardly any", 1, []string{"  … and 3 more lines"}},
		{"none", 0, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			lines := []string{"a", "b", "c"}
			if diff := cmp.Diff(test.want, fit(lines, test.height)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if diff := cmp.Diff([]string{"a", "b", "c"}, lines); diff != "" {
				t.Errorf("its argument has changed (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWrap(t *testing.T) {
	for _, test := range []struct {
		name  string
		items []string
		width int
		want  string
	}{
		{"nothing", nil, 10, "head: "},
		{"one line", []string{"a", "b"}, 10, "head: a, b"},
		{"two lines", []string{"a", "b", "c"}, 10, "head: a, b,\n      c"},
		{"a word that is too long", []string{"abcdefgh", "b"}, 10, "head: abcdefgh,\n      b"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, wrap("head: ", test.items, ", ", test.width)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestCut(t *testing.T) {
	for text, want := range map[string]string{"abc": "abc", "äbcd": "äb…", "": ""} {
		if got := cut(text, 3); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
	if got := cut("abc", -1); got != "…" {
		t.Errorf("no width: got %q", got)
	}
}

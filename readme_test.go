// SPDX-License-Identifier: Apache-2.0

package espalier_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/espalier-dev/espalier/examples/webapp/graph"
)

func TestReadme(t *testing.T) {
	readme := read(t, "README.md")
	if lines := strings.Count(readme, "\n"); lines > 120 {
		t.Errorf("README.md has %d lines: want at most 120", lines)
	}
	program := read(t, "examples/quickstart/main.go")
	for _, code := range blocks(readme, "go") {
		if !strings.Contains(program, code) {
			t.Errorf("a Go block of README.md isn't part of examples/quickstart/main.go:\n%s", code)
		}
	}
	w, err := graph.Workflow()
	if err != nil {
		t.Fatal(err)
	}
	if got := blocks(readme, "mermaid"); len(got) != 1 || got[0] != w.Picture().Mermaid() {
		t.Errorf("the picture in README.md isn't that of examples/webapp, which is:\n%s", w.Picture().Mermaid())
	}
	for _, target := range regexp.MustCompile(`(?m)^make (\w+)`).FindAllStringSubmatch(strings.Join(blocks(readme, "sh"), ""), -1) {
		if !strings.Contains(read(t, "Makefile"), "\n"+target[1]+":") {
			t.Errorf("README.md calls make %s, which the Makefile doesn't have", target[1])
		}
	}
}

// blocks returns the contents of all fenced blocks of a language.
func blocks(text, language string) (out []string) {
	for _, part := range strings.Split(text, "```"+language+"\n")[1:] {
		code, _, _ := strings.Cut(part, "```")
		out = append(out, code)
	}
	return out
}

func read(t *testing.T, file string) string {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

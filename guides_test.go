// SPDX-License-Identifier: Apache-2.0

package espalier_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Every block of Go in the guides is a part of a file that is compiled.
func TestGuides(t *testing.T) {
	code := map[string]string{}
	walk(t, ".", ".go", func(path, content string) { code[path] = content })
	walk(t, "docs", ".md", func(path, content string) {
		for _, block := range blocks(content, "go") {
			found := false
			for _, file := range code {
				found = found || strings.Contains(file, block)
			}
			if !found {
				t.Errorf("%s: no Go file has this block:\n%s", path, block)
			}
		}
	})
}

// Every link to a file leads to one.
func TestLinks(t *testing.T) {
	link, code := regexp.MustCompile(`\]\(([^)#:\s]+)(#[^)]*)?\)`), regexp.MustCompile("(?s)```.*?```")
	check := func(path, content string) {
		for _, match := range link.FindAllStringSubmatch(code.ReplaceAllString(content, ""), -1) {
			if _, err := os.Stat(filepath.Join(filepath.Dir(path), match[1])); err != nil {
				t.Errorf("%s: %s leads nowhere", path, match[1])
			}
		}
	}
	walk(t, "docs", ".md", check)
	for _, page := range []string{"README.md", "CONTRIBUTING.md", "SECURITY.md"} {
		check(page, read(t, page))
	}
}

// Every reason that a node may have stands in the table of troubles.
func TestReasons(t *testing.T) {
	page := read(t, "docs/guides/policies.md")
	reason := regexp.MustCompile(`(?:NotYet|Because|refuse|refused)\(\s*"(\w+)"|Reason: +"(\w+)"|unanswered\(v, "(\w+)"|` +
		`[rR]eason\w+ += "(\w+)"`)
	for _, folder := range []string{"dependent", "workflow"} {
		walk(t, folder, ".go", func(path, content string) {
			if strings.HasSuffix(path, "_test.go") {
				return
			}
			for _, match := range reason.FindAllStringSubmatch(content, -1) {
				name := strings.Join(match[1:], "")
				if !strings.Contains(page, "`"+name+"`") {
					t.Errorf("%s: reason %s isn't in docs/guides/policies.md", path, name)
				}
			}
		})
	}
}

// walk calls visit with every file below a folder whose name ends so.
func walk(t *testing.T, folder, suffix string, visit func(path, content string)) {
	t.Helper()
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && entry.Name() == ".git" {
			return filepath.SkipDir
		}
		if strings.HasSuffix(path, suffix) {
			visit(path, read(t, path))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

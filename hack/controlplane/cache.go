// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const (
	// manifestName is the file that says, written last, that a cache folder is complete: one line "path size" per
	// file.
	manifestName = "manifest"
	// partSuffix marks what is still being written. A program's part has the process id before it, as a killed build
	// may leave a go command behind that still writes its own.
	partSuffix = ".part"
)

// tools is what the cache needs from the Go toolchain.
type tools interface {
	// build compiles a program into the file output and reports each package that it compiled.
	build(ctx context.Context, p program, output string, report func(pkg string)) error
	// moduleFolder is where the sources of a module are.
	moduleFolder(ctx context.Context, module string) (string, error)
}

// cache is one folder of programs and stage files.
type cache struct {
	folder   string
	programs []program
	tools    tools
	progress *progress
}

// fill brings the folder to completeness and returns at once if it is. It may be interrupted at any moment: every
// file appears under its name only when it is whole, and the next call builds only what is missing.
func (c *cache) fill(ctx context.Context) error {
	if c.complete() {
		c.progress.say("The control plane is built: %s", c.folder)
		return nil
	}
	if err := os.MkdirAll(c.folder, 0o755); err != nil {
		return fmt.Errorf("creating the cache folder: %w", err)
	}
	unlock, err := lock(ctx, c.folder+".lock", func() {
		c.progress.say("Waiting for another build of %s", c.folder)
	})
	if err != nil {
		return err
	}
	defer unlock()
	if c.complete() {
		c.progress.say("The other build is done: %s", c.folder)
		return nil
	}
	c.progress.say("Building the control plane in %s; the first time takes many minutes", c.folder)
	if err := c.build(ctx); err != nil {
		if ctx.Err() != nil {
			return errors.New("interrupted: run it again to go on from here")
		}
		return err
	}
	c.progress.say("Built the control plane in %s: %s", c.progress.sinceStart(), c.folder)
	return nil
}

// build makes what is missing and then the manifest.
func (c *cache) build(ctx context.Context) error {
	if err := c.removeParts(); err != nil {
		return err
	}
	sizes := c.manifest()
	for i, p := range c.programs {
		step := fmt.Sprintf("[%d/%d] %s", i+1, len(c.programs), p)
		if c.has(p.name, sizes[p.name]) {
			c.progress.say("%s: there already", step)
			continue
		}
		err := c.progress.track(step, func(report func(string)) error { return c.install(ctx, p, report) })
		if err != nil {
			return fmt.Errorf("building %s: %w", p, err)
		}
	}
	if err := c.copyStages(ctx); err != nil {
		return err
	}
	return c.writeManifest()
}

// removeParts removes what killed builds have left.
func (c *cache) removeParts() error {
	parts, err := filepath.Glob(c.path("*" + partSuffix))
	if err != nil {
		return fmt.Errorf("looking for leftovers: %w", err)
	}
	for _, part := range parts {
		if err := os.Remove(part); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("removing a leftover: %w", err)
		}
	}
	return nil
}

// install builds one program beside its place and moves it there.
func (c *cache) install(ctx context.Context, p program, report func(string)) error {
	part := c.path(fmt.Sprintf("%s.%d%s", p.name, os.Getpid(), partSuffix))
	defer func() { _ = os.Remove(part) }()
	if err := c.tools.build(ctx, p, part, report); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return os.Rename(part, c.path(p.name))
}

func (c *cache) path(name string) string { return filepath.Join(c.folder, filepath.FromSlash(name)) }

// complete tells whether the manifest is there, names every program, and every file that it names has its size.
func (c *cache) complete() bool {
	sizes := c.manifest()
	for name, size := range sizes {
		if !c.has(name, size) {
			return false
		}
	}
	return !slices.ContainsFunc(c.programs, func(p program) bool { return sizes[p.name] == 0 })
}

// has tells whether a file is there and, unless size is zero, of that size.
func (c *cache) has(name string, size int64) bool {
	info, err := os.Stat(c.path(name))
	return err == nil && info.Mode().IsRegular() && (size == 0 || info.Size() == size)
}

// manifest reads the sizes of the files of a folder that was complete once; it is empty otherwise.
func (c *cache) manifest() map[string]int64 {
	text, err := os.ReadFile(c.path(manifestName))
	if err != nil {
		return nil
	}
	sizes := map[string]int64{}
	for line := range strings.Lines(string(text)) {
		var name string
		var size int64
		if _, err := fmt.Sscanf(line, "%s %d", &name, &size); err != nil {
			return nil
		}
		sizes[name] = size
	}
	return sizes
}

// writeManifest lists the files of the folder.
func (c *cache) writeManifest() error {
	var text strings.Builder
	err := fs.WalkDir(os.DirFS(c.folder), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || name == manifestName || strings.HasSuffix(name, partSuffix) {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		fmt.Fprintf(&text, "%s %d\n", name, info.Size())
		return nil
	})
	if err != nil {
		return fmt.Errorf("listing the cache folder: %w", err)
	}
	return c.writeFile(manifestName, []byte(text.String()))
}

// writeFile writes a file of the folder beside its place and moves it there.
func (c *cache) writeFile(name string, content []byte) error {
	part := c.path(name + partSuffix)
	if err := os.WriteFile(part, content, 0o644); err != nil {
		_ = os.Remove(part)
		return fmt.Errorf("writing %s: %w", name, err)
	}
	return os.Rename(part, c.path(name))
}

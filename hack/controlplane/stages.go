// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
)

// stagesFolder is where the stage files lie in the cache folder.
const stagesFolder = "stages"

// stageSources are the folders of KWOK's module whose stages make nodes ready, pods run and jobs complete at once.
func stageSources() []string {
	return []string{"kustomize/stage/node/fast", "kustomize/stage/pod/fast"}
}

// copyStages copies KWOK's stage files: it reads them at run time.
func (c *cache) copyStages(ctx context.Context) error {
	module, err := c.tools.moduleFolder(ctx, kwokModule)
	if err != nil {
		return fmt.Errorf("locating the sources of %s: %w", kwokModule, err)
	}
	if err := os.MkdirAll(c.path(stagesFolder), 0o755); err != nil {
		return fmt.Errorf("creating the folder of KWOK's stages: %w", err)
	}
	for _, source := range stageSources() {
		n, err := c.copyStagesOf(filepath.Join(module, filepath.FromSlash(source)))
		if err != nil {
			return fmt.Errorf("copying KWOK's stages of %s: %w", source, err)
		}
		if n == 0 {
			return fmt.Errorf("no stage in %s of %s: look where this version keeps them", source, kwokModule)
		}
	}
	return nil
}

// copyStagesOf copies the stages of one folder, leaving out what else lies there, and returns their number.
func (c *cache) copyStagesOf(folder string) (int, error) {
	files, err := filepath.Glob(filepath.Join(folder, "*.yaml"))
	if err != nil {
		return 0, err
	}
	n := 0
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			return n, err
		}
		if !bytes.Contains(content, []byte("\nkind: Stage\n")) {
			continue
		}
		if err := c.writeFile(stagesFolder+"/"+filepath.Base(file), content); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

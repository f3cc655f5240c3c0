// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestCopyStagesNeedsOnePerKind(t *testing.T) {
	module := newModule(t)
	if err := os.Remove(filepath.Join(module, "kustomize", "stage", "pod", "fast", "pod.yaml")); err != nil {
		t.Fatal(err)
	}
	c, _ := newCache(t.TempDir(), &fakeTools{module: module})
	err := c.copyStages(t.Context())
	if err == nil || !strings.Contains(err.Error(), "no stage in kustomize/stage/pod/fast") {
		t.Errorf("copyStages() = %v, want it to miss the pods' stages", err)
	}
}

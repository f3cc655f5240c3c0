// SPDX-License-Identifier: Apache-2.0

package main

import (
	"path/filepath"
	"testing"
)

func TestLockIsFreeAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	for range 2 {
		unlock, err := lock(t.Context(), path, func() { t.Error("waited for a free lock") })
		if err != nil {
			t.Fatalf("lock() = %v", err)
		}
		unlock()
	}
}

// SPDX-License-Identifier: Apache-2.0

package guides_test

import (
	"testing"

	"github.com/espalier-dev/espalier/docs/guides"
)

func TestGraphs(t *testing.T) {
	if _, err := guides.Declaring(); err != nil {
		t.Error(err)
	}
	if _, err := guides.Deletion(); err != nil {
		t.Error(err)
	}
}

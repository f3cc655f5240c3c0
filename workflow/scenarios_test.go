// SPDX-License-Identifier: Apache-2.0

package workflow_test

import (
	"flag"
	"strings"
	"testing"

	"github.com/espalier-dev/espalier/workflow"
)

var folder = flag.String("scenarios", "testdata/scenarios", "folder of the scenarios to play")

// R1 R2 R3 R4 R5 R6 R7 R8 R9 R10 R11 R13 R14 R15 R16 R17 R18 R19.
func TestScenarios(t *testing.T) {
	for _, s := range readScenarios(t, *folder) {
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			for _, phase := range []string{"first", "second", "mixed"} {
				for _, how := range []struct {
					name    string
					options workflow.Options
					delays  bool
				}{
					{name: "one at a time", options: workflow.Options{MaxConcurrent: 1}},
					{name: "default"},
					{name: "random delays", delays: true},
				} {
					if wrong := s.play(t, phase, how.options, how.delays); wrong != nil {
						t.Errorf("%s, work in %s phase:\n  %s\n  graph (%s):\n%s", how.name, phase,
							strings.Join(wrong, "\n  "), s.Mode, s.graph())
					}
				}
			}
		})
	}
}

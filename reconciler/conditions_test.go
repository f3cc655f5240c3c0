// SPDX-License-Identifier: Apache-2.0

package reconciler_test

import (
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/espalier-dev/espalier/reconciler"
	"github.com/espalier-dev/espalier/workflow"
)

var _ = DescribeTable("A reason", // R63
	func(reason, want string) {
		Expect(reconciler.Legal(reason)).To(Equal(want))
		Expect(want).To(MatchRegexp("^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$"), "the schema of conditions")
		Expect(len(want)).To(BeNumerically("<=", 1024))
	},
	Entry("that is legal", "NotOwned", "NotOwned"),
	Entry("that is none", "", "Unknown"),
	Entry("in small letters", "web-app", "WebApp"),
	Entry("that ends in a comma", "a,", "A"),
	Entry("that begins with a colon", ":x", "X"),
	Entry("that begins with a digit", "1st", "St"),
	Entry("that begins with _", "_first", "First"),
	Entry("that begins with _ and a digit", "_1st", "St"),
	Entry("that ends in _", "first_", "First_"),
	Entry("of nothing that is legal", "__", "Unknown"),
	Entry("in other letters", "Äpfel", "Pfel"),
	Entry("that holds a zero", "a\x00b", "AB"),
	Entry("that is too long", strings.Repeat("x", 3000), "X"+strings.Repeat("x", 1023)),
)

var _ = It("says in a row what drift was left, but not what was corrected", func() { // R48
	rows := reconciler.RowsOf(&workflow.Result{Nodes: []workflow.NodeResult{
		{Name: "left", State: workflow.Ready, Drift: `data.a of "other"`},
		{Name: "corrected", State: workflow.Ready, Operation: workflow.Update, Drift: `data.a of "other"`},
	}})
	Expect(rows).To(Equal([]any{
		map[string]any{"name": "corrected", "state": "Ready"},
		map[string]any{
			"name": "left", "state": "Ready", "reason": "Drifted", "message": `left as others have set it: data.a of "other"`,
		},
	}))
})

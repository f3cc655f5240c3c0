// SPDX-License-Identifier: Apache-2.0

package workflow

import "fmt"

// claim takes what v manages, unless another vertex has it in this run.
func (x *execution[P]) claim(v int32, claims []string) error {
	if x.claimed == nil {
		x.claimed = map[string]int32{}
	}
	for _, what := range claims {
		if holder, taken := x.claimed[what]; taken && holder != v {
			return Terminal(Because("ClaimedBy", fmt.Errorf(
				"%s is managed by node %q: let one of them manage something else", what, x.layout.vertices[holder].title())))
		}
	}
	for _, what := range claims {
		x.claimed[what] = v
	}
	return nil
}

// SPDX-License-Identifier: Apache-2.0

package dependent

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
)

// Digest returns a short text that changes when any of the values does, for an annotation of a pod template that rolls
// pods out when their settings change. It is the same in every process and for equal values, whatever the order of
// their maps. Give it data, such as the Data of a ConfigMap, not whole objects: their resource versions change for
// other reasons. It fails only on values that aren't JSON, such as functions. What it digests can't be told from it,
// but a guess can be verified: don't publish digests of secrets that could be guessed.
func Digest(values ...any) (string, error) {
	h := sha256.New()
	for i, v := range values {
		text, err := json.Marshal(v)
		if err != nil {
			return "", fmt.Errorf("digesting value %d, a %T: %w", i+1, v, err)
		}
		_, _ = fmt.Fprintf(h, "%d:%s,", len(text), text)
	}
	return hex.EncodeToString(h.Sum(nil))[:32], nil
}

// SPDX-License-Identifier: Apache-2.0

package dependent

import (
	"crypto/sha256"
	"encoding/base32"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// maxName is what every built-in kind accepts: a StatefulSet's name becomes, with 11 more characters, a label value,
// and a CronJob's name may have 52.
const maxName = 52

// Name joins the name of the primary and parts to a name that every kind accepts: a DNS-1035 label of at most 52
// characters. What has to be cut or altered for that is told apart by a hash of the whole.
func Name(primary client.Object, parts ...string) string { return NameUpTo(maxName, primary, parts...) }

// NameUpTo is [Name] with another limit, of at least 12 characters.
func NameUpTo(limit int, primary client.Object, parts ...string) string {
	all := append([]string{primary.GetName()}, parts...)
	whole := strings.Join(all, "-")
	name := strings.Trim(strings.Map(legal, whole), "-")
	if name == "" || name[0] >= '0' && name[0] <= '9' {
		name = "x" + name
	}
	limit = max(limit, 12)
	if name == whole && len(name) <= limit {
		return name
	}
	sum := sha256.Sum256([]byte(strings.Join(all, "\x00")))
	hash := strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(sum[:5]))
	return strings.TrimRight(name[:min(len(name), limit-1-len(hash))], "-") + "-" + hash
}

// legal maps a character to one that a DNS label may have.
func legal(c rune) rune {
	switch {
	case c >= 'a' && c <= 'z', c >= '0' && c <= '9', c == '-':
		return c
	case c >= 'A' && c <= 'Z':
		return c - 'A' + 'a'
	default:
		return '-'
	}
}

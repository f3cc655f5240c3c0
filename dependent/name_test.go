// SPDX-License-Identifier: Apache-2.0

package dependent_test

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"pgregory.net/rapid"

	"github.com/espalier-dev/espalier/dependent"
	v1 "github.com/espalier-dev/espalier/examples/webapp/api/v1"
)

func appNamed(name string) *v1.WebApp { return &v1.WebApp{ObjectMeta: metav1.ObjectMeta{Name: name}} }

func TestName(t *testing.T) { // R44
	tests := []struct {
		name    string
		primary string
		parts   []string
		want    string // a hash is written as #
	}{
		{"alone", "shop", nil, "shop"},
		{"parts", "shop", []string{"db", "0"}, "shop-db-0"},
		{"empty parts", "shop", []string{"", "a", ""}, "shop--a-#"},
		{"dots", "shop.example.com", []string{"db"}, "shop-example-com-db-#"},
		{"upper case", "shop", []string{"DB"}, "shop-db-#"},
		{"a digit first", "1shop", nil, "x1shop-#"},
		{"signs", "shop", []string{"a_b/c:d"}, "shop-a-b-c-d-#"},
		{"letters of other scripts", "shop", []string{"Ärger"}, "shop--rger-#"},
		{"nothing legal", "...", nil, "x-#"},
		{"nothing", "", nil, "x-#"},
		{"as long as it may be", strings.Repeat("a", 50), []string{"b"}, strings.Repeat("a", 50) + "-b"},
		{"longer", strings.Repeat("a", 51), []string{"b"}, strings.Repeat("a", 43) + "-#"},
		{"cut at a hyphen", strings.Repeat("a", 42), []string{"longer-by-far"}, strings.Repeat("a", 42) + "-#"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := dependent.Name(appNamed(test.primary), test.parts...)
			want := test.want
			if head, ok := strings.CutSuffix(want, "#"); ok && len(got) > 8 {
				want = head + got[len(got)-8:]
			}
			if got != want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// Whatever it is made of: a DNS-1035 label within the limit, the same every time, and what is cut or altered is told
// apart.
func TestNameProperties(t *testing.T) { // R44 I1
	parts := rapid.SliceOfN(rapid.OneOf(
		rapid.StringMatching(`[a-z0-9]{0,40}`), rapid.StringMatching(`[-._A-Za-z0-9]{0,12}`), rapid.StringN(0, 10, 30),
	), 1, 4)
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.IntRange(0, 70).Draw(t, "limit")
		a, b := parts.Draw(t, "a"), parts.Draw(t, "b")
		name := dependent.NameUpTo(limit, appNamed(a[0]), a[1:]...)
		if problems := validation.IsDNS1035Label(name); limit <= 63 && problems != nil {
			t.Fatalf("%q is no label: %v", name, problems)
		}
		if most := max(limit, 12); len(name) > most {
			t.Fatalf("%q has %d characters, the limit is %d", name, len(name), most)
		}
		if again := dependent.NameUpTo(limit, appNamed(a[0]), a[1:]...); again != name {
			t.Fatalf("%q, then %q", name, again)
		}
		whole := strings.Join(a, "-")
		if len(whole) <= limit && validation.IsDNS1035Label(whole) == nil && name != whole {
			t.Fatalf("%q could stay, but is %q", whole, name)
		}
		if other := dependent.NameUpTo(limit, appNamed(b[0]), b[1:]...); other == name && strings.Join(b, "-") != whole {
			t.Fatalf("%q and %q are both %q", a, b, name)
		}
	})
}

// A name is a label value, and the names that a StatefulSet or a CronJob makes of it are too.
func TestNameFitsEveryKind(t *testing.T) { // R44
	name := dependent.Name(appNamed(strings.Repeat("shop.example.com.", 10)), "database")
	for kind, made := range map[string]string{
		"a StatefulSet's revision": name + "-5f6f79ff4c", "a CronJob's Job": name + "-29000000", "a Service": name,
	} {
		if problems := validation.IsValidLabelValue(made); problems != nil {
			t.Errorf("%s: %q: %v", kind, made, problems)
		}
	}
}

#!/bin/sh
# Runs every fuzz test for a while, one after the other: go test fuzzes one at a time.
# Usage: hack/fuzz.sh DURATION, such as 30s or 10m.
set -eu

grep -rl --include='*_test.go' '^func Fuzz' . | while read -r file; do
	sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\)(.*/\1/p' "$file" | while read -r name; do
		echo "$name in $(dirname "$file")"
		go test "$(dirname "$file")" -run '^$' -fuzz "^$name\$" -fuzztime "$1" </dev/null
	done
done

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Shows that the architecture rules of .golangci.yml bite. In a temporary copy of the tree's packages, emptied so that
# it doesn't matter whether they compile, it plants faults, and beside them what looks like one but is allowed, lints
# that, and compares. A depguard rule without a planted fault is a failure too.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
root=$PWD
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT

ours=github.com/espalier-dev/espalier
gonum=gonum.org/v1/gonum
cr=sigs.k8s.io/controller-runtime

# rule that must catch it, "-" for none | file that is planted | import | use of it
imports="
workflow      | workflow/fault_kubernetes.go         | k8s.io/apimachinery/pkg/types
workflow      | workflow/fault_simple.go             | $gonum/graph/simple
workflow      | workflow/fault_internal.go           | $ours/internal/planted
-             | workflow/fine_graph.go               | $gonum/graph
-             | workflow/fine_topo.go                | $gonum/graph/topo
-             | workflow/fine_dot.go                 | $gonum/graph/encoding/dot
-             | workflow/fine_encoding.go            | $gonum/graph/encoding
-             | workflow/fine_standard.go            | container/heap
-             | workflow/fine_rapid_test.go          | pgregory.net/rapid
dependent     | dependent/fault_reconciler.go        | $ours/reconciler
dependent     | dependent/fault_manager.go           | $cr/pkg/manager
dependent     | dependent/fault_builder.go           | $cr/pkg/builder
dependent     | dependent/fault_controller.go        | $cr/pkg/controller
dependent     | dependent/state/fault_reconciler.go  | $ours/reconciler
-             | dependent/fine_controllerutil.go     | $cr/pkg/controller/controllerutil
-             | dependent/fine_workflow.go           | $ours/workflow
-             | reconciler/fine_builder.go           | $cr/pkg/builder
library       | reconciler/fault_ginkgo.go           | github.com/onsi/ginkgo/v2
library       | internal/planted/fault_gomega.go     | github.com/onsi/gomega
library       | reconciler/fault_envtest.go          | $ours/envtest
-             | reconciler/fine_envtest_test.go      | $ours/envtest
library       | examples/webapp/fault_envtest.go     | $ours/envtest
-             | examples/webapp/demo/fine_envtest.go | $ours/envtest
-             | envtest/fine_gomega.go               | github.com/onsi/gomega
one-envtest   | reconciler/fault_crenvtest_test.go   | $cr/pkg/envtest
-             | envtest/fine_crenvtest.go            | $cr/pkg/envtest
pkg-errors    | internal/planted/fault_errors.go     | github.com/pkg/errors
pkg-errors    | workflow/fault_errors_test.go        | github.com/pkg/errors
telemetry-sdk | reconciler/fault_sdk.go              | go.opentelemetry.io/otel/sdk/trace
-             | reconciler/fine_sdk_test.go          | go.opentelemetry.io/otel/sdk/trace
-             | reconciler/fine_trace.go             | go.opentelemetry.io/otel/trace
kubernetes    | envtest/fault_kubernetes_test.go     | k8s.io/kubernetes/pkg/apis/core
-             | hack/controlplane/fine_kubernetes.go | k8s.io/kubernetes/pkg/apis/core
kstatus       | dependent/fault_kstatus.go           | sigs.k8s.io/cli-utils/pkg/kstatus/status
-             | dependent/fine_kstatus_test.go       | sigs.k8s.io/cli-utils/pkg/kstatus/status
"
aliases="
importas      | internal/planted/fault_alias.go      | v1 k8s.io/api/core/v1                      | v1.Pod
importas      | internal/planted/fault_no_alias.go   | k8s.io/apimachinery/pkg/apis/meta/v1       | v1.Time
importas      | internal/planted/fault_errors.go     | errs k8s.io/apimachinery/pkg/api/errors    | errs.StatusError
-             | internal/planted/fine_alias.go       | appsv1 k8s.io/api/apps/v1                  | appsv1.Deployment
"

# empty copies one file of each package, its package clause only. All belong to one module there.
empty() {
  local file
  git ls-files --cached --others --exclude-standard -- '*.go' | grep -v '_test\.go$' | while IFS= read -r file; do
    [ -f "$file" ] || continue
    mkdir -p "$copy/$(dirname "$file")"
    sed -n '/^package /{p;q;}' "$file" > "$copy/$(dirname "$file")/package.go"
  done
  cp go.mod go.sum .golangci.yml "$copy"
}

# plant CASES
plant() {
  local file alias import use folder
  while IFS='|' read -r _ file import use; do
    read -r file <<< "$file"
    [ -n "$file" ] || continue
    folder=$copy/${file%/*}
    mkdir -p "$folder"
    [ -f "$folder/package.go" ] || echo "package planted" > "$folder/package.go"
    read -r alias import <<< "$import"
    [ -n "$import" ] || { import=$alias alias=; }
    [ -n "$use" ] || alias=_
    printf 'import %s "%s"\n%s\n' "$alias" "$import" "${use:+var _ $use}" | cat "$folder/package.go" - > "$copy/$file"
  done <<< "$1"
}

# lint LINTER prints one line per finding.
lint() {
  (cd "$copy" && "$root/hack/tool" golangci-lint run --allow-serial-runners --enable-only "$1" --show-stats=false \
    --issues-exit-code 0 --output.text.path stdout --output.text.print-issued-lines=false --output.text.colors=false ./...)
}

# compare CASES FINDINGS
compare() {
  local rule file found expected wrong=0
  while IFS='| ' read -r rule file _; do
    [ -n "$file" ] || continue
    found=$(grep -F "$file:" <<< "$2" || true)
    case $rule in
      -) expected= ;;
      importas) expected="(importas)" ;;
      *) expected="from list '$rule'" ;;
    esac
    if [[ $found == *"$expected"* && (-n $expected || -z $found) ]]; then
      printf 'ok     %-14s %s\n' "$rule" "$file"
    else
      printf 'WRONG  %-14s %s: %s\n' "$rule" "$file" "${found:-not caught}"
      wrong=1
    fi
  done <<< "$1"
  return $wrong
}

# check LINTER CASES
check() {
  rm -rf "${copy:?}"/*
  empty
  plant "$2"
  compare "$2" "$(lint "$1")"
}

status=0
check depguard "$imports" || status=1
check importas "$aliases" || status=1
for rule in $(sed -n '/^    depguard:/,/^  [a-z]/s/^        \([a-z-]*\):$/\1/p' .golangci.yml); do
  grep -q "^$rule " <<< "$imports" || { echo "WRONG  $rule: no fault of this rule is planted"; status=1; }
done
exit $status

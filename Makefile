# Everything that is done to this repository, at home and in CI. GNU make 3.81 or newer.

.DEFAULT_GOAL := help
.PHONY: help demo build test test-unit controlplane fuzz bench cover lint lint-bites fmt generate verify clean presubmit

# The modules that hold code. hack/tools only pins the tools.
MODULES := . hack/controlplane
TOOL := "$(CURDIR)/hack/tool"
TIMEOUT := -timeout 20m

# Nothing built here is shipped, and the stamp fails in a clone that belongs to somebody else.
export GOFLAGS := $(strip $(shell go env GOFLAGS) -buildvcs=false)

# The race detector needs a C compiler.
RACE = $(if $(filter 1,$(shell go env CGO_ENABLED)),-race)
race-note = @$(if $(RACE),:,echo "There is no C compiler: the tests run without the race detector.")

# each runs a command in every module, also after a failure, and fails if one did.
each = @status=0; for module in $(MODULES); do echo "$@ in $$module"; (cd $$module && $(1)) || status=1; done; exit $$status

help: ## Print this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: controlplane ## Run the web application operator on a control plane of its own (KEEP=1: until you stop it)
	go run ./examples/webapp/demo

build: ## Compile all packages
	$(call each,go build ./...)

test: controlplane ## Run all tests with the race detector
	$(race-note)
	$(call each,go test $(RACE) $(TIMEOUT) ./...)

test-unit: ## Run the tests that need no control plane
	$(race-note)
	$(call each,go test $(RACE) $(TIMEOUT) -short ./...)

controlplane: ## Build the test control plane unless it is there; the first time takes many minutes
	@cd hack/controlplane && go run .

fuzz: ## Fuzz the parsers and the builder, a minute each (FUZZTIME=10m: longer)
	@hack/fuzz.sh $(or $(FUZZTIME),1m)

bench: controlplane ## Run the benchmarks
	go test -run '^$$' -bench . -benchmem -timeout 60m ./...

cover: controlplane ## Measure the tests' coverage, in cover.out
	go test $(TIMEOUT) -coverprofile=cover.out ./...
	@go tool cover -func=cover.out | tail -n 1

lint: ## Check the linters' configuration and lint all modules
	@$(TOOL) golangci-lint config verify
	$(call each,$(TOOL) golangci-lint run --allow-serial-runners ./...)

lint-bites: ## Show that each architecture rule catches a planted fault
	@hack/lint-bites.sh

fmt: ## Format the code and sort its imports
	$(call each,$(TOOL) golangci-lint fmt ./...)

generate: ## Generate the deep copies and CRDs of the examples
	@for api in $(wildcard examples/*/api); do \
		$(TOOL) controller-gen object:headerFile=hack/boilerplate.go.txt crd paths=./$$api/... \
			output:crd:dir=$${api%/api}/config/crd || exit 1; \
	done

verify: ## Tidy, generate and format, then fail if the tree isn't clean
	@for module in $(MODULES) hack/tools; do (cd $$module && go mod tidy) || exit 1; done
	@$(MAKE) --no-print-directory generate
	@$(MAKE) --no-print-directory fmt
	@test -z "$$(git status --porcelain)" || { git status --short; echo "The tree isn't clean: commit what is listed."; exit 1; }

clean: ## Remove what the targets leave in the tree, and cached test results
	rm -f cover.out
	go clean -testcache

presubmit: ## Do all that a change must pass: verify, lint, test
	@$(MAKE) --no-print-directory verify
	@$(MAKE) --no-print-directory lint
	@$(MAKE) --no-print-directory test

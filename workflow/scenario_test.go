// SPDX-License-Identifier: Apache-2.0

package workflow_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/espalier-dev/espalier/workflow"
)

// scenario is one document of the conformance data; testdata/scenarios/README.md defines the format.
type scenario struct {
	Name   string      `yaml:"name"`
	Rules  []string    `yaml:"rules"`
	Mode   string      `yaml:"mode"`
	Nodes  []actor     `yaml:"nodes"`
	Expect expectation `yaml:"expect"`
}

// actor is a node of a scenario and how it behaves.
type actor struct {
	Name          string         `yaml:"name"`
	DependsOn     []prerequisite `yaml:"dependsOn"`
	Exists        *bool          `yaml:"exists"`
	Manages       string         `yaml:"manages"`
	Collectable   bool           `yaml:"collectable"`
	Activate      string         `yaml:"activate"`
	ReconcileWhen string         `yaml:"reconcileWhen"`
	HoldUntil     string         `yaml:"holdUntil"`
	ReadyWhen     string         `yaml:"readyWhen"`
	DeleteWhen    string         `yaml:"deleteWhen"`
	DeletedWhen   string         `yaml:"deletedWhen"`
	OnReconcile   string         `yaml:"onReconcile"`
	OnDelete      string         `yaml:"onDelete"`
	instance
}

// instance is what an actor is that stands for an instance of a repeated node; no scenario has any.
type instance struct {
	head     bool // that of a Repeat, which has no calls
	vanished bool // its key isn't wanted any more
	unlisted bool // it stands for those that couldn't be listed
}

// prerequisite is a plain name, or a map that says more about the edge.
type prerequisite struct {
	Node      string `yaml:"node"`
	Edge      string `yaml:"edge"`
	Predicate string `yaml:"predicate"`
	bundled   bool   // it is one of several of an edge from outside into a Repeat
	implied   bool   // it leads to the head of a Repeat, since another leads into that
}

func (p *prerequisite) UnmarshalYAML(value *yaml.Node) error {
	if value.Kind == yaml.ScalarNode {
		return value.Decode(&p.Node)
	}
	for i := 0; i < len(value.Content); i += 2 {
		into, ok := map[string]*string{"node": &p.Node, "edge": &p.Edge, "predicate": &p.Predicate}[value.Content[i].Value]
		if !ok {
			return fmt.Errorf("line %d: field %s isn't one of an edge", value.Line, value.Content[i].Value)
		}
		*into = value.Content[i+1].Value
	}
	return nil
}

// expectation is exact: what isn't listed must not happen.
type expectation struct {
	States     map[string]workflow.State `yaml:"states"`
	Reconciled []string                  `yaml:"reconciled"`
	Deleted    []string                  `yaml:"deleted"`
	Evaluated  map[string][]string       `yaml:"evaluated"`
	Before     [][2]string               `yaml:"before"`
	BlockedBy  map[string][]string       `yaml:"blockedBy"`
	Ready      *bool                     `yaml:"ready"`
	Complete   *bool                     `yaml:"complete"`

	Build oneOrMore  `yaml:"build"`
	Path  []string   `yaml:"path"`
	Paths [][]string `yaml:"paths"`
}

type oneOrMore []string

func (o *oneOrMore) UnmarshalYAML(value *yaml.Node) error {
	if value.Kind == yaml.ScalarNode {
		*o = oneOrMore{value.Value}
		return nil
	}
	return value.Decode((*[]string)(o))
}

// readScenarios reads every document of every file in a folder. A field that the format doesn't have is an error.
func readScenarios(t *testing.T, folder string) []scenario {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("reading scenarios: no *.yaml in %q (%v)", folder, err)
	}
	var all []scenario
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatalf("reading scenarios: %v", err)
		}
		documents := yaml.NewDecoder(bytes.NewReader(content))
		documents.KnownFields(true)
		for {
			var s *scenario
			if err := documents.Decode(&s); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("reading scenarios: %s: %v", file, err)
			}
			if s == nil {
				continue // only comments
			}
			if slices.ContainsFunc(all, func(other scenario) bool { return other.Name == s.Name }) {
				t.Fatalf("reading scenarios: %s: two scenarios are called %q", file, s.Name)
			}
			all = append(all, *s)
		}
	}
	return all
}

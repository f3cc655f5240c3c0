// SPDX-License-Identifier: Apache-2.0

package v1_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	v1 "github.com/espalier-dev/espalier/examples/webapp/api/v1"
)

func TestCRD(t *testing.T) {
	crd := readCRD(t)
	if got, want := crd.Name, "webapps."+v1.Group; got != want {
		t.Errorf("name: got %s, want %s", got, want)
	}
	if got, want := crd.Spec.Names.ShortNames, []string{"wa"}; !cmp.Equal(got, want) {
		t.Errorf("short names: got %v, want %v", got, want)
	}
	if got, want := crd.Spec.Scope, apiextensionsv1.NamespaceScoped; got != want {
		t.Errorf("scope: got %s, want %s", got, want)
	}
	version := crd.Spec.Versions[0]
	if version.Name != v1.Version || !version.Served || !version.Storage {
		t.Errorf("version %s: served %t, stored %t", version.Name, version.Served, version.Storage)
	}
	if version.Subresources == nil || version.Subresources.Status == nil {
		t.Error("there is no status subresource")
	}
	var columns []string
	for _, column := range version.AdditionalPrinterColumns {
		columns = append(columns, column.Name)
	}
	if diff := cmp.Diff([]string{"Ready", "Reason", "URL", "Age"}, columns); diff != "" {
		t.Errorf("printed columns (-want +got):\n%s", diff)
	}
}

// Without listType=map a status patch would replace the conditions of others.
func TestCRDStatusLists(t *testing.T) {
	status := readCRD(t).Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["status"]
	for field, key := range map[string]string{"conditions": "type", "nodes": "name"} {
		list := status.Properties[field]
		if list.XListType == nil || *list.XListType != "map" {
			t.Errorf("status.%s: got list type %v, want map", field, list.XListType)
		}
		if diff := cmp.Diff([]string{key}, list.XListMapKeys); diff != "" {
			t.Errorf("status.%s: keys (-want +got):\n%s", field, diff)
		}
	}
	if got := status.Properties["nodes"].MaxItems; got == nil || *got != 64 {
		t.Errorf("status.nodes: got at most %v items, want 64", got)
	}
}

func TestCRDDefaults(t *testing.T) {
	object := map[string]any{"spec": map[string]any{"image": "i", "autoscale": map[string]any{"maxReplicas": int64(4)}}}
	schema, err := structuralschema.NewStructural(readSchema(t))
	if err != nil {
		t.Fatalf("the schema isn't structural: %v", err)
	}
	defaulting.Default(object, schema)

	var app v1.WebApp
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object, &app); err != nil {
		t.Fatalf("converting what the defaults made: %v", err)
	}
	want := v1.WebAppSpec{
		Image:         "i",
		Replicas:      new(int32(2)),
		Port:          8080,
		Database:      v1.DatabaseSpec{Storage: resource.MustParse("1Gi")},
		SchemaVersion: "1",
		Autoscale:     &v1.AutoscaleSpec{MinReplicas: 1, MaxReplicas: 4, CPUPercent: 80},
	}
	if diff := cmp.Diff(want, app.Spec); diff != "" {
		t.Errorf("spec after defaulting (-want +got):\n%s", diff)
	}
}

func TestCRDValidation(t *testing.T) {
	validator, _, err := validation.NewSchemaValidator(readSchema(t))
	if err != nil {
		t.Fatalf("reading the schema: %v", err)
	}
	tests := []struct {
		name  string
		spec  map[string]any
		valid bool
	}{
		{name: "least", spec: map[string]any{"image": "i"}, valid: true},
		{name: "none running", spec: map[string]any{"image": "i", "replicas": int64(0)}, valid: true},
		{name: "host", spec: map[string]any{"image": "i", "host": "a.example.com"}, valid: true},
		{name: "no image", spec: map[string]any{}},
		{name: "empty image", spec: map[string]any{"image": ""}},
		{name: "too many replicas", spec: map[string]any{"image": "i", "replicas": int64(21)}},
		{name: "host in capitals", spec: map[string]any{"image": "i", "host": "A.example.com"}},
		{name: "port 0", spec: map[string]any{"image": "i", "port": int64(0)}},
		{name: "unbounded scaling", spec: map[string]any{"image": "i", "autoscale": map[string]any{}}},
		{name: "storage that is no quantity", spec: map[string]any{"image": "i", "database": map[string]any{"storage": "big"}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			result := validator.Validate(map[string]any{"spec": test.spec})
			if result.IsValid() != test.valid {
				t.Errorf("got valid %t, want %t: %v", result.IsValid(), test.valid, result.Errors)
			}
		})
	}
}

func TestSamples(t *testing.T) {
	for name, exposed := range map[string]bool{"blog": false, "shop": true} {
		var app v1.WebApp
		read(t, &app, "samples", name+".yaml")
		if app.GroupVersionKind() != v1.GroupVersion().WithKind(v1.Kind) || app.Name != name {
			t.Errorf("%s.yaml: got %v %s", name, app.GroupVersionKind(), app.Name)
		}
		if app.Spec.Expose != exposed {
			t.Errorf("%s.yaml: got exposed %t, want %t", name, app.Spec.Expose, exposed)
		}
	}
}

func readCRD(t *testing.T) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	crd := &apiextensionsv1.CustomResourceDefinition{}
	read(t, crd, "crd", v1.Group+"_webapps.yaml")
	if len(crd.Spec.Versions) != 1 {
		t.Fatalf("got %d versions, want 1", len(crd.Spec.Versions))
	}
	return crd
}

func readSchema(t *testing.T) *apiextensions.JSONSchemaProps {
	t.Helper()
	served := readCRD(t).Spec.Versions[0].Schema.OpenAPIV3Schema
	schema := &apiextensions.JSONSchemaProps{}
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(served, schema, nil); err != nil {
		t.Fatalf("converting the schema: %v", err)
	}
	return schema
}

// read decodes a file of the example's config folder, strictly.
func read(t *testing.T, into any, path ...string) {
	t.Helper()
	file := filepath.Join(append([]string{"..", "..", "config"}, path...)...)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.UnmarshalStrict(text, into); err != nil {
		t.Fatalf("decoding %s: %v", file, err)
	}
}

// SPDX-License-Identifier: Apache-2.0

package encode_test

import (
	"encoding/json"
	"errors"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	v1 "github.com/espalier-dev/espalier/examples/webapp/api/v1"
	"github.com/espalier-dev/espalier/internal/encode"
)

// What a plain json.Marshal would own by mistake: resources, strategy, updateStrategy, targetPort, the template's
// metadata, rules, divisor, status.
func TestKinds(t *testing.T) { // R30 E24
	template := corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "nginx"}}}}
	const container = `{name: web, image: nginx}`
	tests := []struct {
		name   string
		object any
		want   string
	}{
		{"Deployment", &appsv1.Deployment{
			ObjectMeta: metav1.ObjectMeta{Name: "web"},
			Spec:       appsv1.DeploymentSpec{Replicas: new(int32(0)), Selector: &metav1.LabelSelector{}, Template: template},
		}, `{metadata: {name: web}, spec: {replicas: 0, selector: {}, template: {spec: {containers: [` + container + `]}}}}`},
		{"StatefulSet", &appsv1.StatefulSet{
			Spec: appsv1.StatefulSetSpec{ServiceName: "db", Template: template, VolumeClaimTemplates: []corev1.PersistentVolumeClaim{{
				ObjectMeta: metav1.ObjectMeta{Name: "data"},
				Spec: corev1.PersistentVolumeClaimSpec{Resources: corev1.VolumeResourceRequirements{
					Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1024Mi")},
				}},
			}}},
		}, `{spec: {serviceName: db, template: {spec: {containers: [` + container + `]}}, volumeClaimTemplates: [
			{metadata: {name: data}, spec: {resources: {requests: {storage: 1Gi}}}}]}}`},
		{"DaemonSet", &appsv1.DaemonSet{
			Spec: appsv1.DaemonSetSpec{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
				Containers: []corev1.Container{{Name: "agent", SecurityContext: &corev1.SecurityContext{}}},
				Volumes:    []corev1.Volume{{Name: "scratch", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}},
			}}},
		}, `{spec: {template: {spec: {containers: [{name: agent, securityContext: {}}], volumes: [{name: scratch, emptyDir: {}}]}}}}`},
		{
			"Job", &batchv1.Job{Spec: batchv1.JobSpec{BackoffLimit: new(int32(0)), Suspend: new(false)}},
			`{spec: {backoffLimit: 0, suspend: false, template: {}}}`,
		},
		{"CronJob", &batchv1.CronJob{Spec: batchv1.CronJobSpec{Schedule: "@daily", JobTemplate: batchv1.JobTemplateSpec{
			Spec: batchv1.JobSpec{Template: template},
		}}}, `{spec: {schedule: "@daily", jobTemplate: {spec: {template: {spec: {containers: [` + container + `]}}}}}}`},
		{"Service", &corev1.Service{Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{
			{Name: "http", Port: 80}, {Name: "https", Port: 443, TargetPort: intstr.FromString("tls")}, {Port: 0},
		}}}, `{spec: {ports: [{name: http, port: 80}, {name: https, port: 443, targetPort: tls}, {port: 0}]}}`},
		{
			"ConfigMap", &corev1.ConfigMap{Data: map[string]string{"a": "", "b": "1"}, BinaryData: map[string][]byte{"c": {0, 255}, "d": {}, "e": nil}},
			`{data: {a: "", b: "1"}, binaryData: {c: AP8=, d: "", e: ""}}`,
		},
		{
			"Secret", &corev1.Secret{Data: map[string][]byte{"a": []byte("x")}, StringData: map[string]string{"b": "y"}, Immutable: new(false), Type: corev1.SecretTypeOpaque},
			`{data: {a: eA==}, stringData: {b: "y"}, immutable: false, type: Opaque}`,
		},
		{"ClusterRole without rules", &rbacv1.ClusterRole{}, `{}`},
		{"ClusterRole with no rules", &rbacv1.ClusterRole{Rules: []rbacv1.PolicyRule{}}, `{rules: []}`},
		{
			"ClusterRole", &rbacv1.ClusterRole{Rules: []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"pods"}}}},
			`{rules: [{apiGroups: [""], resources: [pods]}]}`,
		}, // verbs are required, but nil
		{
			"RoleBinding", &rbacv1.RoleBinding{RoleRef: rbacv1.RoleRef{Kind: "Role", Name: "r"}},
			`{roleRef: {apiGroup: "", kind: Role, name: r}}`,
		},
		{"Ingress", &networkingv1.Ingress{Spec: networkingv1.IngressSpec{Rules: []networkingv1.IngressRule{{
			IngressRuleValue: networkingv1.IngressRuleValue{HTTP: &networkingv1.HTTPIngressRuleValue{Paths: []networkingv1.HTTPIngressPath{{
				PathType: new(networkingv1.PathTypePrefix),
				Backend:  networkingv1.IngressBackend{Service: &networkingv1.IngressServiceBackend{Name: "s"}},
			}}}},
		}}}}, `{spec: {rules: [{http: {paths: [{pathType: Prefix, backend: {service: {name: s}}}]}}]}}`},
		{"NetworkPolicy", &networkingv1.NetworkPolicy{Spec: networkingv1.NetworkPolicySpec{
			Ingress: []networkingv1.NetworkPolicyIngressRule{{}},
		}}, `{spec: {podSelector: {}, ingress: [{}]}}`},
		{"NetworkPolicy that selects all", &networkingv1.NetworkPolicy{Spec: networkingv1.NetworkPolicySpec{
			PodSelector: metav1.LabelSelector{MatchLabels: map[string]string{}}, PolicyTypes: []networkingv1.PolicyType{"Ingress"},
		}}, `{spec: {podSelector: {}, policyTypes: [Ingress]}}`},
		{"HorizontalPodAutoscaler", &autoscalingv2.HorizontalPodAutoscaler{Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
			ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{Kind: "Deployment", Name: "web"}, MaxReplicas: 3,
		}}, `{spec: {scaleTargetRef: {kind: Deployment, name: web}, maxReplicas: 3}}`},
		{"PodDisruptionBudget", &policyv1.PodDisruptionBudget{Spec: policyv1.PodDisruptionBudgetSpec{
			MinAvailable: new(intstr.FromInt32(0)), MaxUnavailable: new(intstr.FromString("10%")),
		}}, `{spec: {minAvailable: 0, maxUnavailable: 10%}}`},
		{"Lease", &coordinationv1.Lease{Spec: coordinationv1.LeaseSpec{
			RenewTime: &metav1.MicroTime{Time: time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC)}, AcquireTime: &metav1.MicroTime{},
		}}, `{spec: {renewTime: "2026-01-02T03:04:05.000006Z"}}`},
		{"CustomResourceDefinition", &apiextensionsv1.CustomResourceDefinition{Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{Name: "v1", Schema: &apiextensionsv1.CustomResourceValidation{
				OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
					Type: "object", Default: &apiextensionsv1.JSON{Raw: []byte(`{"a": 1, "b": null}`)},
					Properties: map[string]apiextensionsv1.JSONSchemaProps{"any": {}},
					Items:      &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &apiextensionsv1.JSONSchemaProps{Type: "string"}},
				},
			}}},
		}}, `{spec: {group: "", scope: "", names: {plural: "", kind: ""}, versions: [{name: v1, served: false, storage: false,
			schema: {openAPIV3Schema: {type: object, default: {a: 1, b: null}, properties: {any: {}}, items: {type: string}}}}]}}`},
		{"a custom resource", &v1.WebApp{ObjectMeta: metav1.ObjectMeta{Name: "shop"}, Spec: v1.WebAppSpec{
			Image: "i", Database: v1.DatabaseSpec{Storage: resource.MustParse("2048Mi")}, Settings: map[string]string{},
		}}, `{metadata: {name: shop}, spec: {image: i, database: {storage: 2Gi}}}`},
		{"a custom resource without anything", &v1.WebApp{}, `{spec: {image: ""}}`},
		{"metadata", &corev1.ConfigMap{
			TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
			ObjectMeta: metav1.ObjectMeta{
				Labels: map[string]string{"a": ""}, Annotations: map[string]string{}, Finalizers: []string{},
				OwnerReferences: []metav1.OwnerReference{{Name: "o", Controller: new(false)}},
			},
		}, `{apiVersion: v1, kind: ConfigMap, metadata: {labels: {a: ""}, ownerReferences: [{apiVersion: "", kind: "", name: o, uid: "", controller: false}]}}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := encode.Object(test.object)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(decoded(t, test.want), got); diff != "" {
				t.Errorf("want -, got +:\n%s", diff)
			}
		})
	}
}

// values has a field of each sort, tagged in each way.
type values struct {
	common       `json:",inline"`
	*extra       `json:",inline"`
	Required     string               `json:"required"`
	Text         string               `json:"text,omitempty"`
	Number       int64                `json:"number,omitempty"`
	Zero         *int64               `json:"zero,omitempty"`
	Float        float64              `json:"float,omitempty"`
	Struct       common               `json:"struct,omitempty"` //nolint:modernize // omitempty on structs is what the kinds of Kubernetes have
	ZeroStruct   common               `json:"zeroStruct,omitzero"`
	Pointer      *common              `json:"pointer,omitempty"`
	PointerMust  *common              `json:"pointerMust"`
	Quantity     resource.Quantity    `json:"quantity,omitempty"` //nolint:modernize // as the kinds of Kubernetes have it
	QuantityMust resource.Quantity    `json:"quantityMust"`
	IntOrString  intstr.IntOrString   `json:"intOrString,omitempty"` //nolint:modernize // as the kinds of Kubernetes have it
	Duration     *metav1.Duration     `json:"duration,omitempty"`
	Stamp        metav1.Time          `json:"stamp,omitempty"` //nolint:modernize // as the kinds of Kubernetes have it
	StampMust    metav1.Time          `json:"stampMust"`
	Raw          runtime.RawExtension `json:"raw,omitempty"` //nolint:modernize // as the kinds of Kubernetes have it
	RawMust      runtime.RawExtension `json:"rawMust"`
	Any          any                  `json:"any,omitempty"`
	Bytes        []byte               `json:"bytes,omitempty"`
	BytesMust    []byte               `json:"bytesMust"`
	List         []common             `json:"list,omitempty"`
	ListMust     []string             `json:"listMust"`
	ListZero     []string             `json:"listZero,omitzero"`
	Map          map[string]common    `json:"map,omitempty"`
	MapMust      map[string][]string  `json:"mapMust"`
	ByNumber     map[int32]string     `json:"byNumber,omitempty"`
	Array        [2]int               `json:"array,omitempty"`
	Untagged     bool
	Hidden       string `json:"-"`
	secret       string
}

type common struct {
	Name string `json:"name,omitempty"`
	Deep *deep  `json:"deep,omitempty"`
}

type extra struct {
	Extra string `json:"extra,omitempty"`
}

type deep struct {
	Inner common `json:"inner,omitempty"` //nolint:modernize // as above
}

func TestValues(t *testing.T) { // R30
	const zero = `required: "", quantityMust: "0", Untagged: false`
	tests := []struct {
		name   string
		object values
		want   string
	}{
		{"nothing", values{}, ``},
		{"hidden fields", values{Hidden: "x", secret: "y"}, ``},
		{"inline", values{common: common{Name: "x"}}, `name: x`},
		{"inline by pointer", values{extra: &extra{Extra: "x"}}, `extra: x`},
		{"a pointer to zero", values{Zero: new(int64(0))}, `zero: 0`},
		{"numbers", values{Number: 1 << 60, Float: 1.5}, `number: 1152921504606846976, float: 1.5`},
		{"an empty struct by pointer", values{Pointer: &common{}, PointerMust: &common{}}, `pointer: {}, pointerMust: {}`},
		{"a struct of empty structs", values{Struct: common{Deep: &deep{}}}, `struct: {deep: {}}`},
		{"structs", values{Struct: common{Name: "x"}, ZeroStruct: common{Name: "y"}}, `struct: {name: x}, zeroStruct: {name: "y"}`},
		{"an explicit quantity of zero", values{Quantity: resource.MustParse("0")}, `quantity: "0"`},
		{"quantities", values{Quantity: resource.MustParse("0.5")}, `quantity: 500m`},
		{"a number or a text", values{IntOrString: intstr.FromInt32(8)}, `intOrString: 8`},
		{"an empty text instead of a number", values{IntOrString: intstr.FromString("")}, `intOrString: ""`},
		{"times", values{Stamp: metav1.Unix(0, 0), StampMust: metav1.Unix(1, 0)}, `stamp: "1970-01-01T00:00:00Z", stampMust: "1970-01-01T00:00:01Z"`},
		{"a duration", values{Duration: &metav1.Duration{}}, `duration: 0s`},
		{"raw JSON", values{RawMust: runtime.RawExtension{Raw: []byte(`{"a":[1,2.5,null]}`)}}, `rawMust: {a: [1, 2.5, null]}`},
		{"an object as raw JSON", values{Raw: runtime.RawExtension{Object: &corev1.ConfigMap{Immutable: new(true)}}}, `raw: {immutable: true, metadata: {}}`},
		{"an empty object as raw JSON", values{Raw: runtime.RawExtension{Raw: []byte(`{}`)}}, `raw: {}`},
		{"anything", values{Any: map[string]any{"a": nil, "b": []any{int64(1), "x"}}}, `any: {b: [1, x]}`},
		{"a number as anything", values{Any: 3}, `any: 3`},
		{"bytes", values{Bytes: []byte{1}, BytesMust: []byte{}}, `bytes: AQ==, bytesMust: ""`},
		{"empty lists and maps", values{
			List: []common{}, ListMust: []string{}, ListZero: []string{}, Map: map[string]common{}, MapMust: map[string][]string{},
		}, `listMust: [], mapMust: {}`},
		{"lists and maps", values{
			List: []common{{}, {Name: "x"}}, ListZero: []string{"x"}, Map: map[string]common{"a": {}},
			MapMust: map[string][]string{"a": nil, "b": {}}, ByNumber: map[int32]string{-1: "x"},
		}, `list: [{}, {name: x}], listZero: [x], map: {a: {}}, mapMust: {b: []}, byNumber: {"-1": x}`},
		{"an array", values{Array: [2]int{0, 1}}, `array: [0, 1]`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := encode.Object(&test.object)
			if err != nil {
				t.Fatal(err)
			}
			want := decoded(t, `{`+test.want+`}`)
			maps.Copy(want, decoded(t, `{`+zero+`}`))
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("want -, got +:\n%s", diff)
			}
		})
	}
}

// broken can't be encoded.
type broken struct{}

func (broken) MarshalJSON() ([]byte, error) { return nil, errors.New("broken") }

func TestErrors(t *testing.T) { // R30
	tests := []struct {
		name   string
		object any
		want   string
	}{
		{"no object", []string{"x"}, "it is no object"},
		{"nil", (*corev1.ConfigMap)(nil), "it is no object"},
		{"deep inside", struct {
			Spec struct {
				Items []broken `json:"items"`
			} `json:"spec"`
		}{Spec: struct {
			Items []broken `json:"items"`
		}{Items: []broken{{}}}}, "spec: items: "},
		{"in a map", map[string]broken{"a": {}}, "broken"},
		{"in an inline struct", struct{ values }{values{Any: broken{}}}, "any: "},
		{"no JSON", struct{ C chan int }{make(chan int)}, "C: "},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := encode.Object(test.object)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, error %v; want an error with %q", got, err, test.want)
			}
		})
	}
}

func decoded(t *testing.T, text string) map[string]any {
	t.Helper()
	plain, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]any{}
	if err := utiljson.Unmarshal(plain, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// plain is what encoding/json makes of an object.
func plain(t *testing.T, obj any) map[string]any {
	t.Helper()
	text, err := json.Marshal(obj)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]any{}
	if err := utiljson.Unmarshal(text, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

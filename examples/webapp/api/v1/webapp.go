// SPDX-License-Identifier: Apache-2.0

package v1

import (
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// WebApp is a web application with its settings, its database and what exposes it.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=wa
// +kubebuilder:printcolumn:name=Ready,type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name=Reason,type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name=URL,type=string,JSONPath=`.status.url`
// +kubebuilder:printcolumn:name=Age,type=date,JSONPath=`.metadata.creationTimestamp`
type WebApp struct {
	metav1.TypeMeta `json:",inline"`
	// ObjectMeta is the standard metadata.
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// Spec is what the user wants.
	//
	// +required
	Spec WebAppSpec `json:"spec"`

	// Status is what the operator last saw and did.
	//
	// +optional
	Status WebAppStatus `json:"status,omitzero"`
}

// WebAppList is a list of web applications.
//
// +kubebuilder:object:root=true
type WebAppList struct {
	metav1.TypeMeta `json:",inline"`
	// ListMeta is the standard metadata of lists.
	metav1.ListMeta `json:"metadata,omitzero"`

	// Items are the web applications.
	Items []WebApp `json:"items"`
}

// WebAppSpec is what the user wants.
type WebAppSpec struct {
	// Image is the container image of the application and of its database migrations.
	//
	// +required
	// +kubebuilder:validation:MinLength=1
	Image string `json:"image"`

	// Replicas is how many instances run while Autoscale isn't set.
	//
	// +optional
	// +kubebuilder:default=2
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=20
	Replicas *int32 `json:"replicas,omitempty"`

	// Port is where the application listens for HTTP.
	//
	// +optional
	// +kubebuilder:default=8080
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	Port int32 `json:"port,omitempty"`

	// Settings are the application's configuration, keys and values.
	//
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	Settings map[string]string `json:"settings,omitempty"`

	// Expose makes the application reachable from outside the cluster.
	//
	// +optional
	Expose bool `json:"expose,omitempty"`

	// Host is the name under which it is exposed; if it is empty, the operator derives one.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*)?$`
	Host string `json:"host,omitempty"`

	// Database is the application's database.
	//
	// +optional
	// +kubebuilder:default={}
	Database DatabaseSpec `json:"database,omitzero"`

	// SchemaVersion is the version of the database schema that the application needs. A new one runs the migration.
	//
	// +optional
	// +kubebuilder:default="1"
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-.a-z0-9]*[a-z0-9])?$`
	SchemaVersion string `json:"schemaVersion,omitempty"`

	// Autoscale lets the number of instances follow the load, within bounds. Without it, Replicas decides.
	//
	// +optional
	Autoscale *AutoscaleSpec `json:"autoscale,omitempty"`
}

// DatabaseSpec is the application's database.
type DatabaseSpec struct {
	// Storage is the size of the database's volume.
	//
	// +optional
	// +kubebuilder:default="1Gi"
	Storage resource.Quantity `json:"storage,omitzero"`
}

// AutoscaleSpec bounds the number of instances.
//
// +kubebuilder:validation:XValidation:rule="self.minReplicas <= self.maxReplicas",message="minReplicas > maxReplicas"
type AutoscaleSpec struct {
	// MinReplicas is the least number of instances.
	//
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=20
	MinReplicas int32 `json:"minReplicas,omitempty"`

	// MaxReplicas is the greatest number of instances.
	//
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=20
	MaxReplicas int32 `json:"maxReplicas"`

	// CPUPercent is the average CPU usage to aim at, in percent of what an instance requests.
	//
	// +optional
	// +kubebuilder:default=80
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	CPUPercent int32 `json:"cpuPercent,omitempty"`
}

// WebAppStatus is what the operator last saw and did.
type WebAppStatus struct {
	// ObservedGeneration is the generation of the spec that this status is about.
	//
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// Conditions are the answers to yes-or-no questions, Ready above all.
	//
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// URL is where the application is reachable from outside; empty if it isn't.
	//
	// +optional
	URL string `json:"url,omitempty"`

	// Nodes are the parts of the application.
	//
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=64
	Nodes []NodeStatus `json:"nodes,omitempty"`
}

// NodeStatus is the state of one part of the application.
type NodeStatus struct {
	// Name is the part's name.
	//
	// +required
	// +kubebuilder:validation:MinLength=1
	Name string `json:"name"`

	// State is what became of it: Ready, NotReady, Blocked and so on.
	//
	// +required
	State string `json:"state"`

	// Reason says in one word why.
	//
	// +optional
	Reason string `json:"reason,omitempty"`

	// Message says in a sentence why.
	//
	// +optional
	Message string `json:"message,omitempty"`
}

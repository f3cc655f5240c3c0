// SPDX-License-Identifier: Apache-2.0

package dependent_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
)

func TestServiceReadiness(t *testing.T) { // R38
	judge[corev1.Service](t, []judgement{
		{"inside the cluster", `{spec: {type: ClusterIP, clusterIP: 10.0.0.1}}`, "met"},
		{"headless", `{spec: {clusterIP: None}}`, "met"},
		{"another's name", `{spec: {type: ExternalName, externalName: example.com}}`, "met"},
		{"a port on every node", `{spec: {type: NodePort}}`, "met"},
		{"a load balancer to come", `{spec: {type: LoadBalancer, clusterIP: 10.0.0.1}}`, "unmet: Provisioning: no load balancer yet"},
		{"a load balancer", `{spec: {type: LoadBalancer, clusterIP: 10.0.0.1}, status: {loadBalancer: {ingress: [{ip: 192.0.2.1}]}}}`, "met"},
		{"a load balancer by name", `{spec: {type: LoadBalancer, clusterIP: 10.0.0.1}, status: {loadBalancer: {ingress: [{hostname: lb.example.com}]}}}`, "met"},
	}, differences{"a load balancer to come": "Current: but nobody can reach it yet from where its type says"})
}

func TestPodReadiness(t *testing.T) { // R38
	const starting = "unmet: Starting: the pod isn't ready yet"
	judge[corev1.Pod](t, []judgement{
		{"nobody has seen it", `{spec: {}}`, starting},
		{"just made", `{metadata: {generation: 1}, status: {phase: Pending, qosClass: BestEffort}}`, starting},
		{"no node for it", `{metadata: {generation: 1, creationTimestamp: "2026-01-01T00:00:00Z"}, status: {phase: Pending, conditions: [
			{type: PodScheduled, status: "False", reason: Unschedulable}]}}`, starting},
		{"running", `{metadata: {generation: 1}, status: {phase: Running, observedGeneration: 1, conditions: [
			{type: Ready, status: "False", reason: ContainersNotReady}]}}`, starting},
		{"crashing", `{metadata: {generation: 1}, status: {phase: Running, observedGeneration: 1, conditions: [
			{type: Ready, status: "False", reason: ContainersNotReady}], containerStatuses: [{name: app, ready: false, restartCount: 4,
			image: "", imageID: "", state: {waiting: {reason: CrashLoopBackOff}}}]}}`, starting},
		{"ready", `{metadata: {generation: 1}, status: {phase: Running, observedGeneration: 1, conditions: [{type: Ready, status: "True"}]}}`, "met"},
		{"ready, without generations", `{metadata: {generation: 2}, status: {phase: Running, conditions: [{type: Ready, status: "True"}]}}`, "met"},
		{
			"being resized", `{metadata: {generation: 2}, status: {phase: Running, observedGeneration: 1, conditions: [{type: Ready, status: "True"}]}}`,
			"unmet: Progressing: its controller hasn't seen generation 2 yet",
		},
		{
			"evicted in peace", `{metadata: {generation: 2, deletionTimestamp: "2026-01-01T00:00:00Z"}, status: {phase: Running,
			conditions: [{type: Ready, status: "True"}]}}`, "unmet: Terminating: it is being deleted",
		},
		{"done", `{status: {phase: Succeeded, conditions: [{type: Ready, status: "False", reason: PodCompleted}]}}`, "met"},
		{"evicted", `{status: {phase: Failed, reason: Evicted}}`, "broken: PodFailed: the pod failed: Evicted"},
		{"failed", `{status: {phase: Failed}}`, "broken: PodFailed: the pod failed: its containers did"},
	}, differences{
		"no node for it": "Failed: but a node may come",
		"crashing":       "Failed: but what it crashes for may come",
		"evicted":        "Current: but who depends on a pod needs it to serve, or to have succeeded",
		"failed":         "Current: but who depends on a pod needs it to serve, or to have succeeded",
	})
}

func TestClaimReadiness(t *testing.T) { // R38 D5
	const provisioning = "unmet: Provisioning: no volume is bound yet"
	judge[corev1.PersistentVolumeClaim](t, []judgement{
		{"for its first pod", `{spec: {storageClassName: lazy}, status: {phase: Pending}}`, "met"},
		{"for its first pod, of old", `{metadata: {annotations: {volume.beta.kubernetes.io/storage-class: lazy}}, status: {phase: Pending}}`, "met"},
		{"being made for a pod", `{metadata: {annotations: {volume.kubernetes.io/storage-provisioner: example.com,
			volume.kubernetes.io/selected-node: node-1}}, spec: {storageClassName: lazy}, status: {phase: Pending}}`, "met"},
		{"being made", `{metadata: {annotations: {volume.kubernetes.io/storage-provisioner: example.com}}, spec: {storageClassName: eager},
			status: {phase: Pending}}`, provisioning},
		{"being bound", `{spec: {storageClassName: eager, volumeName: a}, status: {phase: Pending}}`, provisioning},
		{"no default class yet", `{spec: {}, status: {phase: Pending}}`, "met"},
		{"for a volume that somebody makes", `{spec: {storageClassName: ""}, status: {phase: Pending}}`, provisioning},
		{"bound", `{spec: {storageClassName: lazy, volumeName: a}, status: {phase: Bound}}`, "met"},
		{"to be resized by its pod", `{spec: {volumeName: a}, status: {phase: Bound, conditions: [{type: FileSystemResizePending, status: "True"}]}}`, "met"},
		{"lost", `{spec: {volumeName: a}, status: {phase: Lost}}`, "broken: ClaimLost: the claim has lost its volume"},
	}, differences{
		"for its first pod":         "InProgress: whoever waits for the claim before he uses it would wait for ever",
		"for its first pod, of old": "InProgress: whoever waits for the claim before he uses it would wait for ever",
		"no default class yet":      "InProgress: but the class that comes may bind lazily",
		"being made for a pod":      "InProgress: but it may wait for a pod to be mended by who waits for the claim",
		"lost":                      "InProgress: but a lost volume doesn't come back",
	})
}

func TestNamespaceReadiness(t *testing.T) { // R38
	judge[corev1.Namespace](t, []judgement{
		{"active", `{status: {phase: Active}}`, "met"},
		{
			"being deleted", `{metadata: {deletionTimestamp: "2026-01-01T00:00:00Z"}, spec: {finalizers: [kubernetes]}, status: {phase: Terminating}}`,
			"unmet: Terminating: it is being deleted",
		},
	}, nil)
}

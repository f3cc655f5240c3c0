// SPDX-License-Identifier: Apache-2.0

package dependent_test

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
)

const wanted3 = "unmet: Progressing: not all replicas are up to date and ready: want 3"

func TestDeploymentReadiness(t *testing.T) { // R38 D1 D4
	judge[appsv1.Deployment](t, []judgement{
		{"just made", `{metadata: {generation: 1}, spec: {replicas: 3}}`, wanted3},
		{"its controller is behind", `{metadata: {generation: 2}, spec: {replicas: 3},
			status: {observedGeneration: 1, replicas: 3, updatedReplicas: 3, readyReplicas: 3, availableReplicas: 3}}`, wanted3},
		{"rolling out", `{metadata: {generation: 2}, spec: {replicas: 3}, status: {observedGeneration: 2, replicas: 4,
			updatedReplicas: 2, readyReplicas: 3, availableReplicas: 3, unavailableReplicas: 1,
			conditions: [{type: Available, status: "True", reason: MinimumReplicasAvailable},
				{type: Progressing, status: "True", reason: ReplicaSetUpdated}]}}`, wanted3},
		{"old replicas remain", `{metadata: {generation: 2}, spec: {replicas: 3},
			status: {observedGeneration: 2, replicas: 4, updatedReplicas: 3, readyReplicas: 4, availableReplicas: 4}}`, wanted3},
		{"not all available", `{metadata: {generation: 2}, spec: {replicas: 3},
			status: {observedGeneration: 2, replicas: 3, updatedReplicas: 3, readyReplicas: 3, availableReplicas: 2}}`, wanted3},
		{"rolled out", `{metadata: {generation: 2}, spec: {replicas: 3, progressDeadlineSeconds: 600}, status: {observedGeneration: 2, replicas: 3,
			updatedReplicas: 3, readyReplicas: 3, availableReplicas: 3,
			conditions: [{type: Available, status: "True"}, {type: Progressing, status: "True", reason: NewReplicaSetAvailable}]}}`, "met"},
		{"replicas aren't set", `{metadata: {generation: 1}, status: {observedGeneration: 1, replicas: 1, updatedReplicas: 1, readyReplicas: 1,
			availableReplicas: 1, conditions: [{type: Available, status: "True"}]}}`, "met"},
		{"no replicas wanted", `{metadata: {generation: 1}, spec: {replicas: 0}, status: {observedGeneration: 1,
			conditions: [{type: Available, status: "True"}]}}`, "met"},
		{
			"no replicas wanted, one remains", `{metadata: {generation: 1}, spec: {replicas: 0}, status: {observedGeneration: 1, replicas: 1}}`,
			"unmet: Progressing: not all replicas are up to date and ready: want 0",
		},
		{
			"its deadline has passed", `{metadata: {generation: 2}, spec: {replicas: 3}, status: {observedGeneration: 2, replicas: 4, updatedReplicas: 1,
			availableReplicas: 3, conditions: [{type: Progressing, status: "False", reason: ProgressDeadlineExceeded}]}}`,
			"broken: ProgressDeadlineExceeded: no progress within its deadline",
		},
		{"the deadline of an older spec has passed", `{metadata: {generation: 3}, spec: {replicas: 3}, status: {observedGeneration: 2,
			conditions: [{type: Progressing, status: "False", reason: ProgressDeadlineExceeded}]}}`, wanted3},
		{"pods can't be made", `{metadata: {generation: 1}, spec: {replicas: 3}, status: {observedGeneration: 1,
			conditions: [{type: ReplicaFailure, status: "True", reason: FailedCreate}]}}`, wanted3},
		{"paused before its pods", `{metadata: {generation: 2}, spec: {replicas: 3, paused: true, progressDeadlineSeconds: 600},
			status: {observedGeneration: 2, replicas: 3, readyReplicas: 3, availableReplicas: 3, conditions: [
				{type: Available, status: "True"}, {type: Progressing, status: Unknown, reason: DeploymentPaused}]}}`, wanted3},
		{"paused, all up to date", `{metadata: {generation: 2}, spec: {replicas: 3, paused: true, progressDeadlineSeconds: 600},
			status: {observedGeneration: 2, replicas: 3, updatedReplicas: 3, readyReplicas: 3, availableReplicas: 3, conditions: [
				{type: Available, status: "True"}, {type: Progressing, status: Unknown, reason: DeploymentPaused}]}}`, "met"},
		{
			"being deleted", `{metadata: {generation: 3, deletionTimestamp: "2026-01-01T00:00:00Z", finalizers: [foregroundDeletion]},
			spec: {replicas: 1}, status: {observedGeneration: 3, replicas: 1, updatedReplicas: 1, readyReplicas: 1, availableReplicas: 1,
			conditions: [{type: Available, status: "True"}]}}`, "unmet: Terminating: it is being deleted",
		},
	}, differences{"paused, all up to date": "InProgress: but it is what the spec says, and pausing is for the next change"})
}

func TestStatefulSetReadiness(t *testing.T) { // R38
	judge[appsv1.StatefulSet](t, []judgement{
		{"just made", `{metadata: {generation: 1}, spec: {replicas: 3}}`, wanted3},
		{"its controller is behind", `{metadata: {generation: 2}, spec: {replicas: 3},
			status: {observedGeneration: 1, replicas: 3, readyReplicas: 3, updatedReplicas: 3, currentRevision: a, updateRevision: a}}`, wanted3},
		{"starting one after the other", `{metadata: {generation: 1}, spec: {replicas: 3},
			status: {observedGeneration: 1, replicas: 2, readyReplicas: 1, updatedReplicas: 2, currentRevision: a, updateRevision: a}}`, wanted3},
		{"updating", `{metadata: {generation: 2}, spec: {replicas: 3, updateStrategy: {type: RollingUpdate}},
			status: {observedGeneration: 2, replicas: 3, readyReplicas: 3, updatedReplicas: 1, currentRevision: a, updateRevision: b}}`, wanted3},
		{"updated, not said to be so", `{metadata: {generation: 2}, spec: {replicas: 3, updateStrategy: {type: RollingUpdate, rollingUpdate: {partition: 0}}},
			status: {observedGeneration: 2, replicas: 3, readyReplicas: 3, updatedReplicas: 3, currentRevision: a, updateRevision: b}}`, wanted3},
		{"updated", `{metadata: {generation: 2}, spec: {replicas: 3, updateStrategy: {type: RollingUpdate, rollingUpdate: {partition: 0}}},
			status: {observedGeneration: 2, replicas: 3, readyReplicas: 3, updatedReplicas: 3, currentRevision: b, updateRevision: b}}`, "met"},
		{"updated up to its partition", `{metadata: {generation: 2}, spec: {replicas: 3, updateStrategy: {type: RollingUpdate, rollingUpdate: {partition: 2}}},
			status: {observedGeneration: 2, replicas: 3, readyReplicas: 3, updatedReplicas: 1, currentRevision: a, updateRevision: b}}`, "met"},
		{"not up to its partition", `{metadata: {generation: 2}, spec: {replicas: 3, updateStrategy: {type: RollingUpdate, rollingUpdate: {partition: 1}}},
			status: {observedGeneration: 2, replicas: 3, readyReplicas: 3, updatedReplicas: 1, currentRevision: a, updateRevision: b}}`, wanted3},
		{"a partition beyond its replicas", `{metadata: {generation: 2}, spec: {replicas: 3, updateStrategy: {type: RollingUpdate, rollingUpdate: {partition: 9}}},
			status: {observedGeneration: 2, replicas: 3, readyReplicas: 3, currentRevision: a, updateRevision: b}}`, "met"},
		{"updated by its user", `{metadata: {generation: 2}, spec: {replicas: 3, updateStrategy: {type: OnDelete}},
			status: {observedGeneration: 2, replicas: 3, readyReplicas: 3, updatedReplicas: 0, currentRevision: a, updateRevision: b}}`, "met"},
		{"updated by its user, not ready", `{metadata: {generation: 2}, spec: {replicas: 3, updateStrategy: {type: OnDelete}},
			status: {observedGeneration: 2, replicas: 3, readyReplicas: 1, updatedReplicas: 0, currentRevision: a, updateRevision: b}}`, wanted3},
		{"scaling down", `{metadata: {generation: 2}, spec: {replicas: 3},
			status: {observedGeneration: 2, replicas: 5, readyReplicas: 5, updatedReplicas: 5, currentRevision: a, updateRevision: a}}`, wanted3},
		{"replicas aren't set", `{metadata: {generation: 1}, status: {observedGeneration: 1, replicas: 1, readyReplicas: 1, updatedReplicas: 1,
			currentReplicas: 1, currentRevision: a, updateRevision: a}}`, "met"},
		{"no replicas wanted", `{metadata: {generation: 1}, spec: {replicas: 0}, status: {observedGeneration: 1, currentRevision: a, updateRevision: a}}`, "met"},
	}, differences{
		"updated, not said to be so":     "Current: but the set's controller hasn't said yet that the update has ended",
		"updated by its user, not ready": "Current: but only the update is left to the user, and who depends on the set needs its pods",
	})
}

func TestDaemonSetReadiness(t *testing.T) { // R38
	const waiting = "unmet: Progressing: not all pods are up to date and available"
	judge[appsv1.DaemonSet](t, []judgement{
		{"just made", `{metadata: {generation: 1}}`, waiting},
		{"its controller is behind", `{metadata: {generation: 2}, status: {observedGeneration: 1, desiredNumberScheduled: 2,
			currentNumberScheduled: 2, updatedNumberScheduled: 2, numberAvailable: 2, numberReady: 2}}`, waiting},
		{"rolling out", `{metadata: {generation: 2}, status: {observedGeneration: 2, desiredNumberScheduled: 2,
			currentNumberScheduled: 2, updatedNumberScheduled: 1, numberAvailable: 2, numberReady: 2}}`, waiting},
		{"not available", `{metadata: {generation: 2}, status: {observedGeneration: 2, desiredNumberScheduled: 2,
			currentNumberScheduled: 2, updatedNumberScheduled: 2, numberAvailable: 1, numberReady: 1}}`, waiting},
		{"rolled out", `{metadata: {generation: 2}, status: {observedGeneration: 2, desiredNumberScheduled: 2,
			currentNumberScheduled: 2, updatedNumberScheduled: 2, numberAvailable: 2, numberReady: 2}}`, "met"},
		{"being observed for the first time", `{metadata: {generation: 1}, status: {desiredNumberScheduled: 0}}`, waiting},
		{"no node for it", `{metadata: {generation: 1}, status: {observedGeneration: 1, desiredNumberScheduled: 0}}`, "met"},
		{"updated by its user", `{metadata: {generation: 2}, spec: {updateStrategy: {type: OnDelete}}, status: {observedGeneration: 2,
			desiredNumberScheduled: 2, currentNumberScheduled: 2, numberAvailable: 2, numberReady: 2}}`, "met"},
	}, differences{"updated by its user": "InProgress: it waits for pods that only a user deletes"})
}

func TestReplicaSetReadiness(t *testing.T) { // R38
	judge[appsv1.ReplicaSet](t, []judgement{
		{"just made", `{metadata: {generation: 1}, spec: {replicas: 3}}`, wanted3},
		{"starting", `{metadata: {generation: 1}, spec: {replicas: 3}, status: {observedGeneration: 1, replicas: 3,
			fullyLabeledReplicas: 3, readyReplicas: 1, availableReplicas: 1}}`, wanted3},
		{"pods can't be made", `{metadata: {generation: 1}, spec: {replicas: 3}, status: {observedGeneration: 1, replicas: 3,
			fullyLabeledReplicas: 3, readyReplicas: 3, availableReplicas: 3,
			conditions: [{type: ReplicaFailure, status: "True", reason: FailedCreate}]}}`, wanted3},
		{"its controller is behind", `{metadata: {generation: 2}, spec: {replicas: 3}, status: {observedGeneration: 1, replicas: 3,
			fullyLabeledReplicas: 3, readyReplicas: 3, availableReplicas: 3}}`, wanted3},
		{"no replicas wanted", `{metadata: {generation: 1}, spec: {replicas: 0}, status: {observedGeneration: 1}}`, "met"},
		{"all there", `{metadata: {generation: 1}, spec: {replicas: 3}, status: {observedGeneration: 1, replicas: 3,
			fullyLabeledReplicas: 3, readyReplicas: 3, availableReplicas: 3}}`, "met"},
		{"scaling down", `{metadata: {generation: 2}, spec: {replicas: 3}, status: {observedGeneration: 2, replicas: 5,
			fullyLabeledReplicas: 5, readyReplicas: 5, availableReplicas: 5}}`, wanted3},
	}, nil)
}

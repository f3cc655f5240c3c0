// SPDX-License-Identifier: Apache-2.0

package dependent_test

import (
	"testing"

	batchv1 "k8s.io/api/batch/v1"
)

func TestJobReadiness(t *testing.T) { // R38 D4
	judge[batchv1.Job](t, []judgement{
		{"just made", `{spec: {}}`, "unmet: Running: the job hasn't completed yet"},
		{"running", `{status: {active: 1, ready: 1, startTime: "2026-01-01T00:00:00Z"}}`, "unmet: Running: the job hasn't completed yet"},
		{
			"suspended", `{spec: {suspend: true}, status: {conditions: [{type: Suspended, status: "True", reason: JobSuspended}]}}`,
			"unmet: Suspended: the job is suspended",
		},
		{
			"resumed", `{status: {active: 1, startTime: "2026-01-01T00:00:00Z", conditions: [{type: Suspended, status: "False", reason: JobResumed}]}}`,
			"unmet: Running: the job hasn't completed yet",
		},
		{"about to complete", `{status: {startTime: "2026-01-01T00:00:00Z", conditions: [{type: SuccessCriteriaMet, status: "True"}]}}`, "unmet: Running: the job hasn't completed yet"},
		{"complete", `{status: {succeeded: 1, conditions: [{type: SuccessCriteriaMet, status: "True"}, {type: Complete, status: "True"}]}}`, "met"},
		{
			"about to fail", `{status: {startTime: "2026-01-01T00:00:00Z", conditions: [
			{type: FailureTarget, status: "True", reason: BackoffLimitExceeded}]}}`,
			"unmet: Running: the job hasn't completed yet",
		},
		{
			"failed", `{status: {failed: 7, conditions: [{type: FailureTarget, status: "True", reason: BackoffLimitExceeded},
			{type: Failed, status: "True", reason: BackoffLimitExceeded, message: "Job has reached the specified backoff limit"}]}}`,
			"broken: JobFailed: the job failed: BackoffLimitExceeded",
		},
		{
			"its deadline has passed", `{status: {conditions: [{type: Failed, status: "True", reason: DeadlineExceeded}]}}`,
			"broken: JobFailed: the job failed: DeadlineExceeded",
		},
		{"not failed", `{status: {conditions: [{type: Failed, status: "False"}, {type: Complete, status: "True"}]}}`, "met"},
	}, differences{
		"running":           "Current: but who depends on a job needs what it does",
		"resumed":           "Current: but who depends on a job needs what it does",
		"about to complete": "Current: but pods of it may still run",
		"about to fail":     "Current: but who depends on a job needs what it does",
	})
}

// A CronJob has nothing to become ready: its jobs come and go.
func TestCronJobReadiness(t *testing.T) { // R38
	judge[batchv1.CronJob](t, []judgement{
		{"just made", `{metadata: {generation: 1}, spec: {schedule: "@daily"}}`, "met"},
		{"suspended", `{metadata: {generation: 2}, spec: {schedule: "@daily", suspend: true}}`, "met"},
		{"with a job", `{metadata: {generation: 2}, spec: {schedule: "@daily"}, status: {active: [{name: a}], lastScheduleTime: "2026-01-01T00:00:00Z"}}`, "met"},
	}, nil)
}

// SPDX-License-Identifier: Apache-2.0

package dependent

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/espalier-dev/espalier/workflow"
)

// batchReady is about what ends. A CronJob is ready once it exists: its jobs come and go.
func batchReady(kind string, obj client.Object) workflow.Verdict {
	switch kind {
	case "Job":
		return judged(obj, jobReady)
	case "CronJob":
		return workflow.Met()
	default:
		return conditionReady(obj)
	}
}

func jobReady(j *batchv1.Job) workflow.Verdict {
	for _, c := range j.Status.Conditions {
		if c.Status != corev1.ConditionTrue {
			continue
		}
		switch c.Type {
		case batchv1.JobComplete:
			return workflow.Met()
		case batchv1.JobFailed:
			return workflow.Broken("JobFailed", "the job failed: %s", c.Reason)
		case batchv1.JobSuspended:
			return workflow.Unmet("Suspended", "the job is suspended")
		default:
		}
	}
	return workflow.Unmet("Running", "the job hasn't completed yet")
}

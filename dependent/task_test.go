// SPDX-License-Identifier: Apache-2.0

package dependent_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/espalier-dev/espalier/dependent"
	v1 "github.com/espalier-dev/espalier/examples/webapp/api/v1"
	"github.com/espalier-dev/espalier/workflow"
)

// migration is a task of a test that changes its inputs.
type migration struct{ version, image string }

func (m *migration) declare(b builder) *dependent.TaskNode[*v1.WebApp, *batchv1.Job] {
	return dependent.Task(b, "node", func(run) (*batchv1.Job, error) {
		pod := podSpec("1")
		pod.Containers[0].Image = m.image
		return &batchv1.Job{
			ObjectMeta: metav1.ObjectMeta{Name: "migrate"}, Spec: batchv1.JobSpec{Template: corev1.PodTemplateSpec{Spec: pod}},
		}, nil
	}).By(func(run) (any, error) { return m.version, nil }).
		Backoff(workflow.Backoff{First: time.Millisecond, Last: time.Millisecond})
}

// jobs returns what has run and runs.
func (w *world) jobs(tb testing.TB) []batchv1.Job {
	tb.Helper()
	list := &batchv1.JobList{}
	if err := w.others.List(tb.Context(), list, client.InNamespace(w.namespace)); err != nil {
		tb.Fatal(err)
	}
	return list.Items
}

// ends makes the only job that hasn't ended end.
func (w *world) ends(tb testing.TB, as batchv1.JobConditionType) *batchv1.Job {
	tb.Helper()
	for _, job := range w.jobs(tb) {
		if len(job.Status.Conditions) > 0 {
			continue
		}
		target := map[batchv1.JobConditionType]batchv1.JobConditionType{
			batchv1.JobComplete: batchv1.JobSuccessCriteriaMet, batchv1.JobFailed: batchv1.JobFailureTarget,
		}[as]
		now := metav1.Now()
		job.Status.StartTime = &now
		job.Status.Conditions = []batchv1.JobCondition{
			{Type: target, Status: corev1.ConditionTrue, LastTransitionTime: now},
			{Type: as, Status: corev1.ConditionTrue, Reason: "Test", LastTransitionTime: now},
		}
		if as == batchv1.JobComplete {
			job.Status.CompletionTime, job.Status.Succeeded = &now, 1
		}
		job.Status.UncountedTerminatedPods = &batchv1.UncountedTerminatedPods{}
		if err := w.others.Status().Update(tb.Context(), &job); err != nil {
			tb.Fatal(err)
		}
		w.sees(tb, &job)
		return &job
	}
	tb.Fatal("no job runs")
	return nil
}

// removes deletes a job, as its time to live does.
func (w *world) removes(tb testing.TB, job *batchv1.Job) {
	tb.Helper()
	if err := w.others.Delete(tb.Context(), job, client.PropagationPolicy(metav1.DeletePropagationBackground)); err != nil {
		tb.Fatal(err)
	}
	w.misses(tb, job)
}

// A task runs once for each value of its inputs, and done stays done; the next waits for the present one to end.
func TestTask(t *testing.T) {
	w, m := newWorld(t), &migration{version: "1", image: "a:1"}
	bind := func() *workflow.Runner[*v1.WebApp] {
		return w.runner(t, func(b builder) { m.declare(b) }, workflow.Options{OrderedDeletion: true})
	}
	runner := bind()
	row, sent := w.reconcile(t, runner)
	wantRow(t, row, workflow.NotReady, "Running")
	wantSent(t, sent, "apply jobs.batch")
	m.image = "a:2" // not one of its inputs
	row, sent = w.reconcile(t, runner)
	wantRow(t, row, workflow.NotReady, "Running")
	wantSent(t, sent)

	first := w.ends(t, batchv1.JobComplete)
	row, sent = w.reconcile(t, runner)
	wantRow(t, row, workflow.Ready, "")
	wantSent(t, sent, "apply configmaps")
	w.waits(t, func(context.Context) bool {
		_, sent = w.reconcile(t, runner)
		wantSent(t, sent)
		return w.hasCaughtUp(t)
	}, "the cache doesn't catch up")
	w.removes(t, first)
	w = w.restarted(t)
	runner = bind()
	row, sent = w.reconcile(t, runner)
	wantRow(t, row, workflow.Ready, "")
	wantSent(t, sent)

	m.version = "2"
	w.reconcile(t, runner)
	second := w.jobs(t)[0]
	w.sees(t, &second)
	m.version = "3"
	row, sent = w.reconcile(t, runner)
	wantRow(t, row, workflow.Waiting, "Running")
	wantSent(t, sent)
	w.ends(t, batchv1.JobComplete)
	row, sent = w.reconcile(t, runner)
	wantRow(t, row, workflow.NotReady, "Running")
	wantSent(t, sent, "apply jobs.batch")
	third := w.jobs(t)
	if len(third) != 2 {
		t.Errorf("there are %d jobs", len(third))
	}
	for i := range third {
		w.sees(t, &third[i])
	}
	w.ends(t, batchv1.JobComplete)
	row, sent = w.reconcile(t, runner)
	if wantSent(t, sent, "apply configmaps", "delete jobs.batch"); row.State != workflow.Ready {
		t.Errorf("got %+v", row)
	}
	w.waits(t, func(context.Context) bool {
		row, _ = w.cleanup(t, runner)
		return row.State == workflow.Deleted
	}, "it isn't deleted")
	if left := len(w.jobs(t)); left > 0 {
		t.Errorf("%d jobs are left", left)
	}
}

// One that fails stays as it is, or is run again.
func TestTaskFails(t *testing.T) {
	for _, reruns := range []bool{false, true} {
		t.Run(fmt.Sprint(reruns), func(t *testing.T) {
			w, m := newWorld(t), &migration{version: "1", image: "a:1"}
			runner := w.runner(t, func(b builder) {
				if node := m.declare(b); reruns {
					node.RerunFailed()
				}
			})
			w.reconcile(t, runner)
			w.sees(t, &w.jobs(t)[0])
			failed := w.ends(t, batchv1.JobFailed)
			if !reruns {
				row, sent := w.reconcile(t, runner)
				wantRow(t, row, workflow.Failed, "JobFailed")
				wantSent(t, sent)
				w.removes(t, failed) // somebody has another try
				row, _ = w.reconcile(t, runner)
				wantRow(t, row, workflow.NotReady, "Running")
				return
			}
			row, sent := w.reconcile(t, runner)
			wantRow(t, row, workflow.Failed, "TaskFailed")
			wantSent(t, sent, "delete jobs.batch")
			w.misses(t, failed)
			w.waits(t, func(context.Context) bool {
				row, _ := w.reconcile(t, runner)
				return row.State == workflow.NotReady
			}, "it isn't run again")
			if again := w.jobs(t); len(again) != 1 || again[0].UID == failed.UID {
				t.Errorf("got %d jobs", len(again))
			}
		})
	}
}

func TestTaskOfAConfigMap(t *testing.T) {
	w := newWorld(t)
	b := workflow.NewBuilder[*v1.WebApp]("webapp")
	dependent.Task(b, "node", func(run) (*corev1.ConfigMap, error) { return nil, nil })
	graph, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := workflow.NewRunner(graph, w.engine, workflow.Options{}); err == nil {
		t.Error("a ConfigMap is accepted, though it never completes")
	}
}

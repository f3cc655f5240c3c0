// SPDX-License-Identifier: Apache-2.0

package workflow_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/espalier-dev/espalier/workflow"
)

// backedUp is a database, with a final dump of it and its upload, after the web server that writes to it.
type backedUp struct {
	world        *world
	builder      *workflow.Builder[*primary]
	dump, upload *workflow.Node[*primary, string]
	web          *workflow.Node[*primary, string]
}

func newBackedUp() *backedUp {
	s := &backedUp{world: newWorld(), builder: workflow.NewBuilder[*primary]("backed-up")}
	database := workflow.Add(s.builder, "database", object{world: s.world})
	bucket := workflow.Value(s.builder, "bucket", func(r run) (string, error) { return "bucket of " + database.Get(r), nil }).
		DependsOn(database)
	last := workflow.OnCleanup(s.builder)
	s.dump = workflow.Add(last, "dump", object{world: s.world, want: func(r run) string { return "dump of " + database.Get(r) }}).
		DependsOn(database)
	s.upload = workflow.Add(last, "upload", object{world: s.world, want: func(r run) string {
		return s.dump.Get(r) + " in " + bucket.Get(r)
	}}).DependsOn(s.dump, bucket)
	s.web = workflow.Add(s.builder, "web", object{world: s.world}).DependsOn(database, workflow.Optional(s.dump))
	return s
}

func TestOnCleanup(t *testing.T) { // R16 R18 A17
	for _, concurrent := range []int{1, 16} {
		s := newBackedUp()
		runner := newRunner(t, s.builder, workflow.Options{MaxConcurrent: concurrent})
		result := runner.Reconcile(t.Context(), subject)
		expect(t, "reconcile", states(result), "database Ready, bucket Ready, dump Disabled, upload Disabled, web Ready")
		if !result.Ready() || !runner.NeedsCleanup() {
			t.Errorf("ready %v, needs a cleanup %v", result.Ready(), runner.NeedsCleanup())
		}
		s.world.took()

		s.world.broken["upload"] = true
		result = runner.Cleanup(t.Context(), subject)
		expect(t, "the upload isn't done", states(result),
			"database Deleting by upload, bucket Deleted, dump Ready, upload NotReady, web Deleted")
		expect(t, "what was done", strings.Join(s.world.took(), ", "), "delete web, create dump, create upload")
		expect(t, "what was uploaded", s.world.objects["upload"], "dump of database in bucket of database")

		delete(s.world.broken, "upload")
		s.world.sticky["dump"] = true
		result = runner.Cleanup(t.Context(), subject)
		expect(t, "the rest", states(result), "database Deleted, bucket Deleted, dump Deleting, upload Deleted, web Deleted")
		expect(t, "what it wrote goes last, in reverse", strings.Join(s.world.took(), ", "), "delete database, delete upload, delete dump")
		if result.Complete() {
			t.Error("the dump isn't gone: got complete")
		}

		for what, forget := range map[string]bool{"remembered": false, "after a restart": true} {
			if forget {
				runner.Forget("a")
			}
			runner.Cleanup(t.Context(), subject)
			expect(t, what+": nothing is done again", strings.Join(s.world.took(), ", "), "delete dump")
		}
		delete(s.world.sticky, "dump")
		if result = runner.Cleanup(t.Context(), subject); !result.Complete() || len(s.world.names()) > 0 {
			t.Errorf("at last: %s, left are %v", states(result), s.world.names())
		}
	}
}

func TestOnCleanupWithoutItsPrerequisite(t *testing.T) {
	s := newBackedUp()
	runner := newRunner(t, s.builder, workflow.Options{})
	result := runner.Cleanup(t.Context(), subject) // the primary was deleted before anything was created
	if !result.Complete() || s.world.took() != nil {
		t.Errorf("got %s", states(result))
	}
}

func TestOnCleanupAsksItsConditions(t *testing.T) { // R4 R16
	for name, want := range map[string]string{
		"activate unmet":     "database Deleted, bucket Deleted, dump Inactive, upload Deleted, web Deleted",
		"activate unknown":   "database Deleting by dump, bucket Deleted, dump Failed, upload Blocked by dump, web Deleted",
		"reconcile unmet":    "database Deleted, bucket Deleted, dump Deleted, upload Deleted, web Deleted",
		"reconcile unknown":  "database Deleting by dump, bucket Deleted, dump Failed, upload Blocked by dump, web Deleted",
		"hold unmet":         "database Deleting by dump, bucket Deleted, dump Waiting, upload Blocked by dump, web Deleted",
		"delete unmet":       "database Deleted, bucket Deleted, dump Deleting, upload Deleted, web Deleted",
		"ready unmet":        "database Deleting by dump, bucket Deleted, dump NotReady, upload Blocked by dump, web Deleted",
		"web delete unmet":   "database Deleting by web, bucket Deleted, dump Blocked by web, upload Blocked by web, web Deleting",
		"web delete unknown": "database Deleting by web, bucket Deleted, dump Blocked by web, upload Blocked by web, web Failed",
	} {
		s := newBackedUp()
		condition, answer := name[:strings.LastIndexByte(name, ' ')], verdictOf(name[strings.LastIndexByte(name, ' ')+1:])
		ask := func(run) workflow.Verdict { return answer }
		switch condition {
		case "activate":
			s.dump.ActivateWhen("asked", ask)
		case "reconcile":
			s.dump.ReconcileWhen("asked", ask)
		case "hold":
			s.dump.HoldUntil("asked", ask)
		case "delete":
			s.dump.DeleteWhen("asked", ask)
		case "web delete":
			s.web.DeleteWhen("asked", ask)
		case "ready":
			s.dump.ReadyWhen("asked", func(run, string) workflow.Verdict { return answer })
		}
		runner := newRunner(t, s.builder, workflow.Options{})
		for _, name := range []string{"database", "web"} {
			s.world.objects[name] = name
		}
		expect(t, name, states(runner.Cleanup(t.Context(), subject)), want)
	}
}

func TestRequiringWhatExistsOnlyInCleanup(t *testing.T) {
	b := workflow.NewBuilder[*primary]("late")
	late := workflow.Add(workflow.OnCleanup(b), "late", thing{})
	workflow.Add(b, "user", thing{}).DependsOn(late)
	_, err := b.Build()
	mistake, ok := errors.AsType[*workflow.BuildError](err)
	if !ok || mistake.Mistake != workflow.CleanupPrerequisite || !strings.Contains(err.Error(), "use Optional(late)") {
		t.Errorf("got %v", err)
	}
}

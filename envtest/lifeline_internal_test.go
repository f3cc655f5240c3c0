// SPDX-License-Identifier: Apache-2.0

package envtest

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
)

func TestTiedProgram(t *testing.T) {
	life, err := newLifeline()
	if err != nil {
		t.Fatal(err)
	}
	program := newScript(t, "echo \"$HOME $*\"; exec sleep 600\n")
	script, err := life.tie("a", program)
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(script, "--help").Output(); err != nil || len(out) > 0 {
		t.Errorf("--help gives %q, %v, want nothing: the program isn't asked", out, err)
	}
	log := (&logs{}).program("a")
	p, err := startProcess(script, log, func(error) {}, "x", "y z")
	if err != nil {
		t.Fatal(err)
	}
	if err := await(t.Context(), "the program", func(context.Context) error {
		if want := life.folder + " x y z"; log.tail() != want {
			return errors.New(log.tail() + " isn't " + want)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if err := life.cut(); err != nil {
		t.Fatalf("cut() = %v", err)
	}
	<-p.done
	if _, err := os.Stat(life.folder); !os.IsNotExist(err) {
		t.Errorf("cut() left %s: %v", life.folder, err)
	}
	if _, err := startProcess(script, log, func(error) {}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("startProcess() after cut() = %v, want %v", err, os.ErrNotExist)
	}
	if err := life.cut(); err != nil {
		t.Errorf("second cut() = %v", err)
	}
}

func TestTiedProgramDoesNotStartAfterTheCut(t *testing.T) {
	life, err := newLifeline()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = life.cut() }()
	script, err := life.tie("a", newScript(t, "echo runs\n"))
	if err != nil {
		t.Fatal(err)
	}
	// The state between the watchdog's first step and its last.
	if err := os.Remove(life.path("alive")); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(script).Output()
	if err == nil || strings.Contains(string(out), "runs") {
		t.Errorf("the program gives %q, %v, want it not to run", out, err)
	}
}

// SPDX-License-Identifier: Apache-2.0

package envtest_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/espalier-dev/espalier/envtest"
)

// childVariable makes the test binary run a control plane until it is killed.
const childVariable = "ESPALIER_ENVTEST_CHILD"

const patience = 60 * time.Second

// child is the process that dies.
func child() {
	_, err := envtest.Start(context.Background(), envtest.Options{Controllers: true})
	fmt.Println("started:", err)
	// The test's end closes the input.
	_, _ = os.Stdin.Read(make([]byte, 1))
	os.Exit(1)
}

// running lists the processes that have the text in their command line. Zombies have none.
func running(t *testing.T, text string) []string {
	t.Helper()
	out, err := exec.Command("ps", "-A", "-o", "pid=,args=").Output()
	if err != nil {
		t.Fatalf("listing processes: %v", err)
	}
	var found []string
	for line := range strings.Lines(string(out)) {
		if strings.Contains(line, text) {
			found = append(found, strings.TrimSpace(line))
		}
	}
	return found
}

// runningProgram tells whether a program has the text in its command line.
func runningProgram(t *testing.T, text, program string) bool {
	t.Helper()
	for _, line := range running(t, text) {
		if fields := strings.Fields(line); len(fields) > 1 && strings.HasSuffix(fields[1], "/"+program) {
			return true
		}
	}
	return false
}

func expectNothingLeft(t *testing.T, folder string) {
	t.Helper()
	g := NewWithT(t)
	g.Eventually(t.Context(), func() []string { return running(t, folder) }).WithTimeout(patience).Should(BeEmpty())
	g.Eventually(t.Context(), func() ([]os.DirEntry, error) { return os.ReadDir(folder) }).
		WithTimeout(patience).Should(BeEmpty())
}

func TestNothingOutlivesAKilledProcess(t *testing.T) {
	needsControlPlane(t)
	tests := []struct {
		name    string
		started bool // killed when everything runs, else while the API server starts
	}{
		{name: "while it starts"},
		{name: "when everything runs", started: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g := NewWithT(t)
			folder := t.TempDir()
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), childVariable+"=1", "TMPDIR="+folder)
			input, err := cmd.StdinPipe()
			g.Expect(err).NotTo(HaveOccurred())
			defer func() { _ = input.Close() }()
			output, err := cmd.StdoutPipe()
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(cmd.Start()).To(Succeed())

			if tt.started {
				line, err := bufio.NewReader(output).ReadString('\n')
				g.Expect(line, err).To(Equal("started: <nil>\n"))
				g.Expect(running(t, folder)).To(HaveLen(6), "five programs and the watchdog")
			} else {
				g.Eventually(t.Context(), func() bool { return runningProgram(t, folder, "kube-apiserver") }).
					WithTimeout(patience).Should(BeTrue())
			}
			g.Expect(cmd.Process.Kill()).To(Succeed())
			_ = cmd.Wait()
			expectNothingLeft(t, folder)
		})
	}
}

func TestCancelledStartLeavesNothing(t *testing.T) {
	needsControlPlane(t)
	for _, program := range []string{"etcd", "kube-apiserver", "kwok"} {
		t.Run(program, func(t *testing.T) {
			folder := t.TempDir()
			t.Setenv("TMPDIR", folder)
			cause := errors.New("changed my mind")
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			result := make(chan error, 1)
			go func() {
				_, err := envtest.Start(ctx, envtest.Options{Controllers: true})
				result <- err
			}()
			g := NewWithT(t)
			g.Eventually(t.Context(), func() bool { return runningProgram(t, folder, program) }).
				WithTimeout(patience).WithPolling(5 * time.Millisecond).Should(BeTrue())
			cancel(cause)
			g.Eventually(t.Context(), result).WithTimeout(patience).Should(Receive(MatchError(cause)))
			// Start returns when all is gone, so there is nothing to wait for.
			g.Expect(running(t, folder)).To(BeEmpty())
			g.Expect(os.ReadDir(folder)).To(BeEmpty())
		})
	}
}

func TestStartWithEndedContext(t *testing.T) {
	needsControlPlane(t)
	folder := t.TempDir()
	t.Setenv("TMPDIR", folder)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := envtest.Start(ctx, envtest.Options{})
	NewWithT(t).Expect(err).To(MatchError(context.Canceled))
	expectNothingLeft(t, folder)
}

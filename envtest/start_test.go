// SPDX-License-Identifier: Apache-2.0

package envtest_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/espalier-dev/espalier/envtest"
)

func TestTwoEnvironmentsAtOnce(t *testing.T) {
	needsControlPlane(t)
	g := NewWithT(t)
	temporary := filepath.Join(t.TempDir(), "it's a folder")
	g.Expect(os.Mkdir(temporary, 0o700)).To(Succeed())
	t.Setenv("TMPDIR", temporary)
	var envs [2]*envtest.Environment
	var errs [2]error
	var starts sync.WaitGroup
	for i := range envs {
		starts.Go(func() { envs[i], errs[i] = envtest.Start(t.Context(), envtest.Options{}) })
	}
	starts.Wait()
	g.Expect(errs).To(HaveEach(BeNil()))

	object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "one"}}
	g.Expect(newClient(t, envs[0].Config()).Create(t.Context(), object)).To(Succeed())
	err := newClient(t, envs[1].Config()).Get(t.Context(), client.ObjectKeyFromObject(object), object)
	g.Expect(apierrors.IsNotFound(err)).To(BeTrue(), "%v", err)

	for _, env := range envs {
		folder := filepath.Dir(env.KubeconfigPath())
		g.Expect(env.Stop()).To(Succeed())
		g.Expect(running(t, folder)).To(BeEmpty())
		g.Expect(env.Stop()).To(Succeed(), "Stop is idempotent")
	}
	g.Expect(os.ReadDir(temporary)).To(BeEmpty())
}

func TestStartRefusesNodesWithoutControllers(t *testing.T) {
	for _, o := range []envtest.Options{{Nodes: 1}, {Nodes: -1, Controllers: true}} {
		_, err := envtest.Start(t.Context(), o)
		NewWithT(t).Expect(err).To(MatchError(ContainSubstring("set Controllers, or Nodes to zero")))
	}
}

// assets makes a folder with scripts in place of programs and points KUBEBUILDER_ASSETS at it.
func assets(t *testing.T, scripts map[string]string) string {
	t.Helper()
	folder := t.TempDir()
	for name, script := range scripts {
		if err := os.WriteFile(filepath.Join(folder, name), []byte("#!/bin/sh\n"+script), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("KUBEBUILDER_ASSETS", folder)
	return folder
}

// realPrograms is the cache's folder.
func realPrograms(t *testing.T) string {
	t.Helper()
	needsControlPlane(t)
	cmd := exec.Command("go", "run", ".", "-print")
	cmd.Dir = controlPlaneModule
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("asking for the cache's folder: %v", err)
	}
	return strings.TrimSpace(string(out))
}

func TestStartShowsTheLastWordsOfAProgram(t *testing.T) {
	programs := realPrograms(t)
	run := func(program string) string { return fmt.Sprintf("exec '%s/%s' \"$@\"\n", programs, program) }
	const boom = "echo first; echo boom >&2; exit 3\n"
	tests := []struct {
		name        string
		scripts     map[string]string
		wantProgram string
	}{
		{
			name:        "etcd",
			scripts:     map[string]string{"etcd": boom, "kube-apiserver": boom},
			wantProgram: "etcd",
		},
		{
			name:        "API server",
			scripts:     map[string]string{"etcd": run("etcd"), "kube-apiserver": boom},
			wantProgram: "kube-apiserver",
		},
		{
			name: "controller",
			scripts: map[string]string{
				"etcd": run("etcd"), "kube-apiserver": run("kube-apiserver"), "kube-scheduler": boom,
			},
			wantProgram: "kube-scheduler",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			assets(t, tt.scripts)
			folder := t.TempDir()
			t.Setenv("TMPDIR", folder)
			_, err := envtest.Start(t.Context(), envtest.Options{Controllers: true})
			NewWithT(t).Expect(err).To(MatchError(And(
				ContainSubstring("starting "+tt.wantProgram+": "),
				HaveSuffix("; its last lines:\n\tfirst\n\tboom"),
			)))
			expectNothingLeft(t, folder)
		})
	}
}

func TestStartRepeatsAfterAPortConflict(t *testing.T) {
	programs := realPrograms(t)
	tests := []struct {
		name      string
		conflicts int
		wantErr   string
	}{
		{name: "one", conflicts: 1},
		{name: "two", conflicts: 2, wantErr: "bind: address already in use"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			count := filepath.Join(t.TempDir(), "count")
			assets(t, map[string]string{
				"etcd": fmt.Sprintf(`echo run >>'%s'
if [ "$(wc -l <'%s')" -le %d ]; then
	echo "listen tcp 127.0.0.1:1: bind: address already in use"
	exit 1
fi
exec '%s/etcd' "$@"
`, count, count, tt.conflicts, programs),
				"kube-apiserver": fmt.Sprintf("exec '%s/kube-apiserver' \"$@\"\n", programs),
			})
			env, err := envtest.Start(t.Context(), envtest.Options{})
			g := NewWithT(t)
			if tt.wantErr != "" {
				g.Expect(err).To(MatchError(ContainSubstring(tt.wantErr)))
			} else {
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(env.Stop()).To(Succeed())
			}
			runs, err := os.ReadFile(count)
			g.Expect(strings.Count(string(runs), "run"), err).To(Equal(2))
		})
	}
}

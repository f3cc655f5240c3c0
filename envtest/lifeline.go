// SPDX-License-Identifier: Apache-2.0

package envtest

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// watchdogScript waits for the end of its input, which comes when the test process closes it or ends, however it
// ends. Then it kills every program that runs on the lifeline and removes the folder. Programs lead a process group
// each: killing by group spares an unrelated process that has got a dead program's number. Its argument is the
// folder.
const watchdogScript = `#!/bin/sh
trap '' HUP INT QUIT TERM
while read -r line; do :; done
rm -f "$1/alive"
for file in "$1"/pids/*; do
	read -r pid <"$file" && kill -9 "-$pid"
done
tries=0
while [ -e "$1" ] && [ "$tries" -lt 100 ]; do
	rm -rf "$1" || sleep 0.1
	tries=$((tries + 1))
done
`

// programScript becomes the program. It notes its process id and then looks whether the lifeline still holds, in this
// order: the watchdog cuts first and reads the notes then, so no program slips through. controller-runtime asks
// programs for their flags by --help; that takes a while, and the flags are known.
const programScript = `#!/bin/sh
[ "$*" = --help ] && exit 0
echo $$ >%[1]s/pids/%[2]s
[ -e %[1]s/alive ] || exit 1
HOME=%[1]s
export HOME
exec %[3]s "$@"
`

// lifeline ties programs and their folder to the life of this process. A watchdog, which is a process of its own,
// does so even when this process is killed.
type lifeline struct {
	folder   string
	watchdog *exec.Cmd
	input    io.Closer // the watchdog's: closing it ends everything

	once sync.Once
	err  error
}

// newLifeline makes the folder and starts the watchdog.
func newLifeline() (_ *lifeline, err error) {
	folder, err := os.MkdirTemp("", "espalier-envtest-")
	if err != nil {
		return nil, fmt.Errorf("creating the control plane's folder: %w", err)
	}
	defer func() {
		if err != nil {
			_ = os.RemoveAll(folder)
		}
	}()
	script := filepath.Join(folder, "watchdog")
	if err := errors.Join(
		os.Mkdir(filepath.Join(folder, "pids"), 0o700),
		os.Mkdir(filepath.Join(folder, "bin"), 0o700),
		os.WriteFile(filepath.Join(folder, "alive"), nil, 0o600),
		os.WriteFile(script, []byte(watchdogScript), 0o600),
	); err != nil {
		return nil, fmt.Errorf("filling the control plane's folder: %w", err)
	}
	l := &lifeline{folder: folder, watchdog: exec.Command("/bin/sh", script, folder)}
	l.watchdog.SysProcAttr = ownProcessGroup()
	if l.input, err = l.watchdog.StdinPipe(); err != nil {
		return nil, fmt.Errorf("connecting the control plane's watchdog: %w", err)
	}
	if err := l.watchdog.Start(); err != nil {
		return nil, fmt.Errorf("starting the control plane's watchdog: %w: it needs a POSIX shell", err)
	}
	return l, nil
}

// path is a path below the folder.
func (l *lifeline) path(elements ...string) string {
	return filepath.Join(append([]string{l.folder}, elements...)...)
}

// tie writes a script that runs the program on the lifeline and returns its path. The caller starts it as the leader
// of a process group.
func (l *lifeline) tie(name, program string) (string, error) {
	script := fmt.Sprintf(programScript, shellQuote(l.folder), name, shellQuote(program))
	path := l.path("bin", name)
	if err := os.WriteFile(path, []byte(script), 0o700); err != nil {
		return "", fmt.Errorf("writing the start script of %s: %w", name, err)
	}
	return path, nil
}

// cut kills every program and removes the folder. It may be called at any time, also while programs start, also
// concurrently; when it returns, nothing starts any more.
func (l *lifeline) cut() error {
	const patience = 30 * time.Second
	l.once.Do(func() {
		_ = l.input.Close()
		impatient := time.AfterFunc(patience, func() { _ = l.watchdog.Process.Kill() })
		defer impatient.Stop()
		if err := l.watchdog.Wait(); err != nil {
			l.err = fmt.Errorf("ending the control plane by its watchdog: %w", err)
		}
		if err := os.RemoveAll(l.folder); err != nil {
			l.err = errors.Join(l.err, fmt.Errorf("removing the control plane's folder: %w", err))
		}
	})
	return l.err
}

// ownProcessGroup keeps a program from signals that are meant for the test's process group, such as an interrupt at
// the terminal: programs end in order, by the lifeline.
func ownProcessGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// shellQuote makes one word of s in a POSIX shell.
func shellQuote(s string) string {
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

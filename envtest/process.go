// SPDX-License-Identifier: Apache-2.0

package envtest

import (
	"errors"
	"fmt"
	"os/exec"
	"strings"
)

// process is a program that this package starts itself.
type process struct {
	name string
	cmd  *exec.Cmd
	log  *programLog
	done chan struct{} // closed when the program has ended
}

// startProcess runs a script that the lifeline has tied. When the program ends, whyever, ended gets its last words.
func startProcess(script string, log *programLog, ended func(error), args ...string) (*process, error) {
	p := &process{name: log.name, cmd: exec.Command(script, args...), log: log, done: make(chan struct{})}
	p.cmd.Stdout, p.cmd.Stderr = log, log
	p.cmd.SysProcAttr = ownProcessGroup()
	if err := p.cmd.Start(); err != nil {
		return nil, &programError{program: p.name, cause: err}
	}
	go func() {
		defer close(p.done)
		err := endedError(p.cmd.Wait())
		ended(&programError{program: p.name, cause: err, tail: log.tail()})
	}()
	return p, nil
}

// kill ends the program and waits for its end.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	<-p.done
}

// endedError says how a program ended that should have stayed.
func endedError(err error) error {
	if err == nil {
		return errors.New("ended by itself")
	}
	return fmt.Errorf("ended early: %w", err)
}

// programError is the failure of one program.
type programError struct {
	program string
	cause   error
	tail    string // the last lines of its output
}

// Error names the program, the cause and the program's last words.
func (e *programError) Error() string {
	text := fmt.Sprintf("starting %s: %v", e.program, e.cause)
	if e.tail != "" {
		text += "; its last lines:\n\t" + strings.ReplaceAll(e.tail, "\n", "\n\t")
	}
	return text
}

// Unwrap gives the cause.
func (e *programError) Unwrap() error { return e.cause }

// portTaken tells whether the program found its port in use.
func (e *programError) portTaken() bool { return strings.Contains(e.tail, "address already in use") }

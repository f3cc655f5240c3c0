// SPDX-License-Identifier: Apache-2.0

package envtest

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"

	"k8s.io/client-go/rest"
	crenvtest "sigs.k8s.io/controller-runtime/pkg/envtest"
)

// Environment is a running control plane; [Start] makes it. Its methods may be called concurrently.
type Environment struct {
	life     *lifeline
	logs     *logs
	binaries binaries

	plane     crenvtest.ControlPlane
	processes []*process

	admin          *rest.Config
	kubeconfigPath string

	usersMu sync.Mutex // the certificate authority counts without a lock

	stopOnce sync.Once
	stopErr  error
}

// Config returns a new configuration for a client that may do everything, without a limit on its rate.
func (e *Environment) Config() *rest.Config { return rest.CopyConfig(e.admin) }

// KubeconfigPath is the path of a file with the same access as [Environment.Config], for kubectl and the variable
// KUBECONFIG. The file lives as long as the environment.
func (e *Environment) KubeconfigPath() string { return e.kubeconfigPath }

// User returns a configuration for a client that is this user in these groups and system:authenticated. It may do
// what RBAC grants to them: run an operator under its own role with it.
func (e *Environment) User(name string, groups ...string) (*rest.Config, error) {
	user, err := e.addUser(name, groups...)
	if err != nil {
		return nil, err
	}
	return rest.CopyConfig(user.Config()), nil
}

// addUser signs a certificate.
func (e *Environment) addUser(name string, groups ...string) (*crenvtest.AuthenticatedUser, error) {
	if name == "" {
		return nil, errors.New("creating a user of the control plane: give it a name")
	}
	e.usersMu.Lock()
	defer e.usersMu.Unlock()
	// A negative rate turns the client's own throttling off.
	user, err := e.plane.AddUser(crenvtest.User{Name: name, Groups: groups}, &rest.Config{QPS: -1})
	if err != nil {
		return nil, fmt.Errorf("creating user %q of the control plane: %w", name, err)
	}
	return user, nil
}

// writeKubeconfig writes the access of an administrator of this name into a file and returns the file's path.
func (e *Environment) writeKubeconfig(name string) (string, error) {
	user, err := e.addUser(name, "system:masters")
	if err != nil {
		return "", err
	}
	content, err := user.KubeConfig()
	if err != nil {
		return "", fmt.Errorf("encoding the kubeconfig of %q: %w", name, err)
	}
	path := e.life.path(name + ".kubeconfig")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		return "", fmt.Errorf("writing the kubeconfig of %q: %w", name, err)
	}
	return path, nil
}

// Stop kills all programs and removes what they wrote. It returns when they are gone; further calls wait for the
// first and return what it returned.
func (e *Environment) Stop() error {
	e.stopOnce.Do(func() {
		e.stopErr = e.life.cut()
		for _, p := range e.processes {
			p.kill()
		}
		e.stopErr = errors.Join(e.stopErr, reaped(e.plane.Stop()))
	})
	return e.stopErr
}

// reaped filters the errors of signalling a program that the lifeline has killed: it is gone, or about to be.
func reaped(err error) error {
	if errors.Is(err, syscall.ESRCH) || errors.Is(err, syscall.EPERM) || errors.Is(err, os.ErrProcessDone) {
		return nil
	}
	return err
}

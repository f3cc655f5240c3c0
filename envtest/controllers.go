// SPDX-License-Identifier: Apache-2.0

package envtest

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// startControllers runs what turns an API server into a cluster, and waits until pods can be created and run. A
// program that ends meanwhile ends the wait, and is the error.
func (e *Environment) startControllers(ctx context.Context, nodes int) error {
	ctx, failed := context.WithCancelCause(ctx)
	defer failed(nil)
	health, err := e.runControllers(failed)
	if err != nil {
		return err
	}
	if err := e.awaitControllers(ctx, health, nodes); err != nil {
		if cause := context.Cause(ctx); cause != nil {
			return cause
		}
		return err
	}
	return nil
}

// runControllers starts the programs and returns the addresses of their health, by program.
func (e *Environment) runControllers(failed context.CancelCauseFunc) (map[string]string, error) {
	manager, err := e.startControllerManager(failed)
	if err != nil {
		return nil, err
	}
	scheduler, err := e.startScheduler(failed)
	if err != nil {
		return nil, err
	}
	health := map[string]string{controllerManagerName: manager, schedulerName: scheduler}
	return health, e.startKWOK(failed)
}

// awaitControllers registers the nodes and waits until the programs do their work.
func (e *Environment) awaitControllers(ctx context.Context, health map[string]string, nodes int) error {
	c, err := client.New(e.Config(), client.Options{})
	if err != nil {
		return fmt.Errorf("creating a client of the control plane: %w", err)
	}
	if err := createNodes(ctx, c, nodes); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(health)) {
		if err := e.awaitHealthy(ctx, name, health[name]); err != nil {
			return err
		}
	}
	if err := awaitNodes(ctx, c, nodes); err != nil {
		return err
	}
	account := &corev1.ServiceAccount{}
	account.Namespace, account.Name = metav1.NamespaceDefault, "default"
	return awaitObject(ctx, c, account)
}

// startControllerManager runs kube-controller-manager and returns the address of its health.
func (e *Environment) startControllerManager(failed context.CancelCauseFunc) (string, error) {
	kubeconfig, err := e.writeKubeconfig("system:" + controllerManagerName)
	if err != nil {
		return "", err
	}
	rootCA := e.life.path("root-ca.crt")
	if err := os.WriteFile(rootCA, e.serverCA(), 0o600); err != nil {
		return "", fmt.Errorf("writing the root certificate: %w", err)
	}
	port, err := freePort()
	if err != nil {
		return "", err
	}
	args := append(e.servingFlags(port),
		"--kubeconfig="+kubeconfig,
		"--leader-elect=false",
		"--kube-api-qps=1000", "--kube-api-burst=2000",
		"--root-ca-file="+rootCA,
		"--service-account-private-key-file="+e.certificate("sa-signer.key"),
	)
	return healthURL(port), e.run(failed, controllerManagerName, args...)
}

// startScheduler runs kube-scheduler and returns the address of its health.
func (e *Environment) startScheduler(failed context.CancelCauseFunc) (string, error) {
	kubeconfig, err := e.writeKubeconfig("system:" + schedulerName)
	if err != nil {
		return "", err
	}
	config := e.life.path("scheduler.yaml")
	content := fmt.Sprintf(`apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
leaderElection: {leaderElect: false}
clientConnection: {kubeconfig: %q, qps: 1000, burst: 2000}
`, kubeconfig)
	if err := os.WriteFile(config, []byte(content), 0o600); err != nil {
		return "", fmt.Errorf("writing the scheduler's configuration: %w", err)
	}
	port, err := freePort()
	if err != nil {
		return "", err
	}
	return healthURL(port), e.run(failed, schedulerName, append(e.servingFlags(port), "--config="+config)...)
}

// startKWOK runs the simulation of nodes. It keeps their leases too, else they would be taken for dead.
func (e *Environment) startKWOK(failed context.CancelCauseFunc) error {
	kubeconfig, err := e.writeKubeconfig(kwokName)
	if err != nil {
		return err
	}
	args := []string{
		"--kubeconfig=" + kubeconfig,
		"--manage-all-nodes=false",
		"--manage-nodes-with-annotation-selector=" + simulatedKey + "=" + simulatedValue,
		"--node-lease-duration-seconds=40",
	}
	for _, stage := range e.binaries.stages {
		args = append(args, "--config="+stage)
	}
	return e.run(failed, kwokName, args...)
}

// run starts a program on the lifeline; failed is called with its last words when it ends.
func (e *Environment) run(failed context.CancelCauseFunc, name string, args ...string) error {
	script, err := e.life.tie(name, e.binaries.paths[name])
	if err != nil {
		return err
	}
	p, err := startProcess(script, e.logs.program(name), failed, args...)
	if err != nil {
		return err
	}
	e.processes = append(e.processes, p)
	return nil
}

// servingFlags make a program serve its health with the API server's certificate: making one takes time.
func (e *Environment) servingFlags(port int) []string {
	return []string{
		"--bind-address=" + loopback,
		"--secure-port=" + strconv.Itoa(port),
		"--tls-cert-file=" + e.certificate("apiserver.crt"),
		"--tls-private-key-file=" + e.certificate("apiserver.key"),
	}
}

// certificate is the path of a file that controller-runtime made for the API server.
func (e *Environment) certificate(name string) string {
	return filepath.Join(e.plane.GetAPIServer().CertDir, name)
}

func healthURL(port int) string {
	return "https://" + net.JoinHostPort(loopback, strconv.Itoa(port)) + "/healthz"
}

// awaitHealthy waits until a program says that it is well.
func (e *Environment) awaitHealthy(ctx context.Context, name, url string) error {
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(e.serverCA())
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}}
	defer transport.CloseIdleConnections()
	return await(ctx, name+" to be healthy", func(ctx context.Context) error {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return err
		}
		response, err := transport.RoundTrip(request)
		if err != nil {
			return err
		}
		defer func() { _ = response.Body.Close() }()
		if response.StatusCode != http.StatusOK {
			return fmt.Errorf("%s answered %s", url, response.Status)
		}
		return nil
	})
}

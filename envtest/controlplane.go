// SPDX-License-Identifier: Apache-2.0

package envtest

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"os"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	crenvtest "sigs.k8s.io/controller-runtime/pkg/envtest"
)

// adminName is the user behind Environment.Config.
const adminName = "admin"

// startEtcd runs etcd. Its data needn't survive, so it doesn't wait for the disk; it has nobody to agree with, so it
// doesn't wait long before it elects itself.
func (e *Environment) startEtcd() error {
	script, err := e.life.tie(etcdName, e.binaries.paths[etcdName])
	if err != nil {
		return err
	}
	port, err := freePort()
	if err != nil {
		return err
	}
	log := e.logs.program(etcdName)
	e.plane.Etcd = &crenvtest.Etcd{
		Path:         script,
		DataDir:      e.life.path("etcd"),
		URL:          &url.URL{Scheme: "http", Host: net.JoinHostPort(loopback, strconv.Itoa(port))},
		StartTimeout: startTimeout,
		Out:          log,
		Err:          log,
	}
	e.plane.Etcd.Configure().
		Set("unsafe-no-fsync", "true").
		Set("heartbeat-interval", "20").
		Set("election-timeout", "200").
		Set("listen-peer-urls", "http://"+net.JoinHostPort(loopback, "0"))
	if err := e.plane.Etcd.Start(); err != nil {
		return &programError{program: etcdName, cause: err, tail: log.tail()}
	}
	return nil
}

// startAPIServer runs kube-apiserver and prepares the administrator's access.
func (e *Environment) startAPIServer(ctx context.Context, controllers bool) error {
	script, err := e.life.tie(apiServerName, e.binaries.paths[apiServerName])
	if err != nil {
		return err
	}
	port, err := freePort()
	if err != nil {
		return err
	}
	certificates := e.life.path("certificates")
	if err := os.Mkdir(certificates, 0o700); err != nil {
		return fmt.Errorf("creating the folder of certificates: %w", err)
	}
	log := e.logs.program(apiServerName)
	server := e.plane.GetAPIServer()
	server.Path = script
	server.EtcdURL = e.plane.Etcd.URL
	server.CertDir = certificates
	server.StartTimeout = startTimeout
	server.Address = loopback
	server.Port = strconv.Itoa(port)
	server.Out, server.Err = log, log
	flags := server.Configure().
		Set("service-cluster-ip-range", "10.0.0.0/16").
		// Without these two it looks for a network interface, and a machine may have none.
		Set("advertise-address", loopback).
		Set("endpoint-reconciler-type", "none")
	if controllers {
		// Off by default, as nobody would create the accounts that it demands.
		flags.Disable("disable-admission-plugins")
	}
	if err := server.Start(); err != nil {
		return &programError{program: apiServerName, cause: err, tail: log.tail()}
	}

	if e.kubeconfigPath, err = e.writeKubeconfig(adminName); err != nil {
		return err
	}
	if e.admin, err = e.User(adminName, "system:masters"); err != nil {
		return err
	}
	c, err := client.New(e.admin, client.Options{})
	if err != nil {
		return fmt.Errorf("creating a client of the control plane: %w", err)
	}
	namespace := &corev1.Namespace{}
	namespace.Name = metav1.NamespaceDefault
	return awaitObject(ctx, c, namespace)
}

// serverCA is the certificate of the authority that signed the API server's certificate.
func (e *Environment) serverCA() []byte { return e.plane.GetAPIServer().CA }

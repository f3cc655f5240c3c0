// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/espalier-dev/espalier/envtest"
)

// deletion costs a delete for each object, shop's first migration among them, and one write to let go of the WebApp.
func deletion() step {
	return step{
		name: "delete", title: "Deleting both: nothing goes while something uses it", apps: []string{shop, blog},
		do: func(ctx context.Context, d *demo) error {
			for _, name := range []string{shop, blog} {
				app, err := d.app(ctx, name)
				if err != nil {
					return err
				}
				if err := d.client.Delete(ctx, app); err != nil {
					return err
				}
			}
			for _, name := range []string{shop, blog} {
				err := eventually(ctx, name+" is gone", func(ctx context.Context) (bool, error) {
					_, err := d.app(ctx, name)
					return err != nil, client.IgnoreNotFound(err)
				})
				if err != nil {
					return err
				}
			}
			return nil
		},
		check: reportDeletion,
		limits: map[string]int{
			finalizerWrite: 2, "delete configmaps": 2, "delete secrets": 2, "delete services": 4, "delete statefulsets.apps": 2,
			"delete jobs.batch": 3, "delete deployments.apps": 2, "delete ingresses.networking.k8s.io": 1,
			"delete horizontalpodautoscalers.autoscaling": 1,
		},
	}
}

// reportDeletion says in which order the operator has sent its deletes, and what is left.
func reportDeletion(ctx context.Context, d *demo, a *account) (string, error) {
	claims, err := d.left(ctx)
	if err != nil {
		return "", err
	}
	width, _ := d.display.size()
	lines := []string{"in this order went"}
	for _, app := range a.apps {
		lines = append(lines, wrap("     "+app+": ", deleted(a.requests, app), " → ", width-2))
	}
	lines = append(lines, fmt.Sprintf("nothing is left but %d volume claims, which are data", claims))
	return strings.Join(lines, "\n"), nil
}

// deleted lists what was deleted of an application, in the order of the requests.
func deleted(log envtest.RequestLog, app string) (order []string) {
	for _, r := range log {
		if r.Verb == "delete" && (r.Name == app || strings.HasPrefix(r.Name, app+"-")) {
			order = append(order, nameOf(r)+"/"+r.Name)
		}
	}
	return order
}

// left fails if an object still carries the label of a WebApp, and says how many volume claims there are.
func (d *demo) left(ctx context.Context) (claims int, err error) {
	for _, list := range []client.ObjectList{
		&corev1.ConfigMapList{}, &corev1.SecretList{}, &corev1.ServiceList{}, &appsv1.StatefulSetList{},
		&appsv1.DeploymentList{}, &batchv1.JobList{}, &networkingv1.IngressList{},
		&autoscalingv2.HorizontalPodAutoscalerList{},
	} {
		if err := d.client.List(ctx, list, client.HasLabels{"espalier.dev/owner"}); err != nil {
			return 0, err
		}
		if n := meta.LenList(list); n > 0 {
			return 0, fmt.Errorf("%d objects are left in a %T", n, list)
		}
	}
	err = eventually(ctx, "their Pods are gone", func(ctx context.Context) (bool, error) {
		pods := &corev1.PodList{}
		err := d.client.List(ctx, pods)
		return len(pods.Items) == 0, err
	})
	list := &corev1.PersistentVolumeClaimList{}
	if err == nil {
		err = d.client.List(ctx, list)
	}
	return len(list.Items), err
}

// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// What somebody does behind the operator's back is repaired with one write.

func repairDeletion() step {
	return step{
		name: "repair svc", title: "Somebody deletes shop's Service: it is made again", apps: []string{shop},
		do: func(ctx context.Context, d *demo) error {
			service := &corev1.Service{}
			if err := d.client.Get(ctx, key(shop), service); err != nil {
				return err
			}
			before := service.UID
			if err := d.client.Delete(ctx, service); err != nil {
				return err
			}
			return eventually(ctx, "the Service is there again", func(ctx context.Context) (bool, error) {
				err := d.client.Get(ctx, key(shop), service)
				return err == nil && service.UID != before, client.IgnoreNotFound(err)
			})
		},
		limits: map[string]int{"apply services": 1},
	}
}

func repairEdit() step {
	const intruder = `[{
		"op": "replace", "path": "/spec/template/spec/containers/0/image", "value": "registry.example.com/intruder:1"
	}]`
	return step{
		name: "repair edit", title: "Somebody edits the image in shop's Deployment: it is set back", apps: []string{shop},
		do: func(ctx context.Context, d *demo) error {
			web := &appsv1.Deployment{}
			if err := d.client.Get(ctx, key(shop), web); err != nil {
				return err
			}
			image := web.Spec.Template.Spec.Containers[0].Image
			if err := d.client.Patch(ctx, web, client.RawPatch(types.JSONPatchType, []byte(intruder))); err != nil {
				return err
			}
			err := eventually(ctx, "the image is rolled out that belongs there", func(ctx context.Context) (bool, error) {
				err := d.client.Get(ctx, key(shop), web)
				return web.Spec.Template.Spec.Containers[0].Image == image && isRolledOut(web), err
			})
			if err != nil {
				return err
			}
			return d.ready(ctx, shop)
		},
		limits: map[string]int{"apply deployments.apps": 1},
	}
}

func isRolledOut(d *appsv1.Deployment) bool {
	s := &d.Status
	return s.ObservedGeneration == d.Generation && s.Replicas == s.UpdatedReplicas && s.AvailableReplicas == s.Replicas
}

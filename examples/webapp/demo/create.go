// SPDX-License-Identifier: Apache-2.0

package main

import "context"

// creation costs a write for each object, and one for the finalizer: shop owns nine objects, blog seven.
func creation() step {
	return step{
		name: "create", title: "Creating two WebApps, shop and blog", apps: []string{shop, blog},
		do: func(ctx context.Context, d *demo) error {
			for _, name := range []string{shop, blog} {
				app, err := sample(name)
				if err != nil {
					return err
				}
				if err := d.client.Create(ctx, app); err != nil {
					return err
				}
			}
			return d.ready(ctx, shop, blog)
		},
		limits: map[string]int{
			finalizerWrite: 2, "apply configmaps": 2, "apply secrets": 2, "apply services": 4, "apply statefulsets.apps": 2,
			"apply jobs.batch": 2, "apply deployments.apps": 2, "apply ingresses.networking.k8s.io": 1,
			"apply horizontalpodautoscalers.autoscaling": 1,
		},
	}
}

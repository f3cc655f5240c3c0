// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"

	v1 "github.com/espalier-dev/espalier/examples/webapp/api/v1"
)

// A change of the spec costs one write for each object that it reaches.

func newImage() step {
	return change("image", "Changing shop's image: the database is migrated, it is rolled out, the last migration goes",
		func(spec *v1.WebAppSpec) { spec.Image = "registry.example.com/shop:3.1.0" },
		"apply jobs.batch", "apply deployments.apps", "delete jobs.batch")
}

func newSetting() step {
	return change("settings", "Changing one of shop's settings: nothing but its ConfigMap is touched",
		func(spec *v1.WebAppSpec) { spec.Settings["CURRENCY"] = "CHF" },
		"apply configmaps")
}

func exposeOff() step {
	return change("expose off", "Exposing shop no longer: its Ingress goes",
		func(spec *v1.WebAppSpec) { spec.Expose = false },
		"delete ingresses.networking.k8s.io")
}

func exposeOn() step {
	return change("expose on", "Exposing shop again",
		func(spec *v1.WebAppSpec) { spec.Expose = true },
		"apply ingresses.networking.k8s.io")
}

func change(name, title string, mutate func(*v1.WebAppSpec), writes ...string) step {
	limits := map[string]int{}
	for _, kind := range writes {
		limits[kind] = 1
	}
	return step{
		name: name, title: title, apps: []string{shop}, limits: limits,
		do: func(ctx context.Context, d *demo) error {
			app, err := d.app(ctx, shop)
			if err != nil {
				return err
			}
			mutate(&app.Spec)
			if err := d.client.Update(ctx, app); err != nil {
				return err
			}
			return d.ready(ctx, shop)
		},
	}
}

// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/espalier-dev/espalier/envtest"
	v1 "github.com/espalier-dev/espalier/examples/webapp/api/v1"
)

const (
	finalizerWrite = "apply webapps.webapp.example.espalier.dev"
	statusWrite    = "apply webapps.webapp.example.espalier.dev/status"
)

func creation() []step {
	return []step{{
		name: "create", title: "Creating two WebApps, shop and blog",
		do: func(ctx context.Context, d *demo) error {
			for _, name := range []string{"shop", "blog"} {
				app := &v1.WebApp{}
				if err := load("samples/"+name+".yaml", app); err != nil {
					return err
				}
				app.Namespace = namespace
				if err := d.client.Create(ctx, app); err != nil {
					return err
				}
			}
			return d.ready(ctx, "shop", "blog")
		},
		most: map[string]int{
			finalizerWrite: 2, "apply configmaps": 2, "apply secrets": 2, "apply services": 4, "apply statefulsets.apps": 2,
			"apply jobs.batch": 2, "apply deployments.apps": 2, "apply ingresses.networking.k8s.io": 1,
			"apply horizontalpodautoscalers.autoscaling": 1,
		},
	}}
}

// changes are those of users, and of people who reach behind the operator's back.
func changes() []step {
	return []step{
		change("image", "Changing shop's image: the database is migrated first", func(app *v1.WebApp) {
			app.Spec.Image = "registry.example.com/shop:3.1.0"
		}, "apply jobs.batch", "apply deployments.apps"),
		change("settings", "Changing one of shop's settings: nothing else is touched", func(app *v1.WebApp) {
			app.Spec.Settings["CURRENCY"] = "CHF"
		}, "apply configmaps"),
		change("expose off", "Taking shop off the net", func(app *v1.WebApp) {
			app.Spec.Expose = false
		}, "delete ingresses.networking.k8s.io"),
		change("expose on", "And back on it", func(app *v1.WebApp) {
			app.Spec.Expose = true
		}, "apply ingresses.networking.k8s.io"),
		{
			name: "repair a deletion", title: "Somebody deletes shop's Service",
			do: deleteService, most: map[string]int{"apply services": 1},
		},
		{
			name: "repair an edit", title: "Somebody edits the image of shop's Deployment",
			do: editDeployment, most: map[string]int{"apply deployments.apps": 1},
		},
	}
}

func change(name, title string, mutate func(*v1.WebApp), writes ...string) step {
	most := map[string]int{}
	for _, w := range writes {
		most[w] = 1
	}
	return step{name: name, title: title, most: most, do: func(ctx context.Context, d *demo) error {
		app, err := d.app(ctx, "shop")
		if err != nil {
			return err
		}
		mutate(app)
		if err := d.client.Update(ctx, app); err != nil {
			return err
		}
		return d.ready(ctx, "shop")
	}}
}

func deleteService(ctx context.Context, d *demo) error {
	name := client.ObjectKey{Namespace: namespace, Name: "shop"}
	service := &corev1.Service{}
	if err := d.client.Get(ctx, name, service); err != nil {
		return err
	}
	before := service.UID
	if err := d.client.Delete(ctx, service); err != nil {
		return err
	}
	return eventually(ctx, "the Service is there again", func(ctx context.Context) (bool, error) {
		err := d.client.Get(ctx, name, service)
		return err == nil && service.UID != before, client.IgnoreNotFound(err)
	})
}

func editDeployment(ctx context.Context, d *demo) error {
	name := client.ObjectKey{Namespace: namespace, Name: "shop"}
	web := &appsv1.Deployment{}
	if err := d.client.Get(ctx, name, web); err != nil {
		return err
	}
	before := web.Spec.Template.Spec.Containers[0].Image
	const patch = `[{
		"op": "replace", "path": "/spec/template/spec/containers/0/image", "value": "registry.example.com/intruder:1"
	}]`
	if err := d.client.Patch(ctx, web, client.RawPatch(types.JSONPatchType, []byte(patch))); err != nil {
		return err
	}
	err := eventually(ctx, "the image is back", func(ctx context.Context) (bool, error) {
		err := d.client.Get(ctx, name, web)
		seen := web.Status.ObservedGeneration == web.Generation
		return err == nil && seen && web.Spec.Template.Spec.Containers[0].Image == before, err
	})
	if err != nil {
		return err
	}
	return d.ready(ctx, "shop")
}

const rest = 30 * time.Second

// steadyState beats the hearts of dependents, and counts what the operator sends meanwhile.
func steadyState() step {
	return step{
		name: "steady state", title: fmt.Sprintf("%v of heartbeats: the operator has nothing to do", rest),
		do: func(ctx context.Context, d *demo) error {
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()
			beats := make(chan int, 1)
			go func() { beats <- d.heartbeats(ctx) }()
			err := envtest.ExpectNoRequests(ctx, &d.operator.requests, rest)
			cancel()
			d.screen.say("%d heartbeats in %v", <-beats, rest)
			return err
		},
		most: map[string]int{},
	}
}

// heartbeats moves a condition of every workload twice a second until ctx ends, and says how often it did.
func (d *demo) heartbeats(ctx context.Context) (beats int) {
	ticker := time.NewTicker(500 * time.Millisecond)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return beats
		case <-ticker.C:
		}
		for _, app := range []string{"shop", "blog"} {
			web := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: app}}
			database := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: app + "-db"}}
			for _, obj := range []client.Object{web, database} {
				patch := fmt.Sprintf(`{"status":{"conditions":[{"type":"Heartbeat","status":"True","message":"%d"}]}}`, beats)
				if d.client.Status().Patch(ctx, obj, client.RawPatch(types.StrategicMergePatchType, []byte(patch))) == nil {
					beats++
				}
			}
		}
	}
}

func deletion() step {
	return step{
		name: "delete", title: "Deleting both: in reverse order, and only then they are gone",
		do: func(ctx context.Context, d *demo) error {
			mark := d.operator.requests.Mark()
			for _, name := range []string{"shop", "blog"} {
				app, err := d.app(ctx, name)
				if err != nil {
					return err
				}
				if err := d.client.Delete(ctx, app); err != nil {
					return err
				}
			}
			for _, name := range []string{"shop", "blog"} {
				err := eventually(ctx, name+" is gone", func(ctx context.Context) (bool, error) {
					_, err := d.app(ctx, name)
					return apierrors.IsNotFound(err), client.IgnoreNotFound(err)
				})
				if err != nil {
					return err
				}
			}
			for _, name := range []string{"shop", "blog"} {
				order := deleted(d.operator.requests.Since(mark), name)
				d.screen.say("%s: %s", name, strings.Join(order, " → "))
			}
			return d.nothingLeft(ctx)
		},
		most: map[string]int{
			finalizerWrite: 2, "delete configmaps": 2, "delete secrets": 2, "delete services": 4, "delete statefulsets.apps": 2,
			"delete jobs.batch": 3, "delete deployments.apps": 2, "delete ingresses.networking.k8s.io": 1,
			"delete horizontalpodautoscalers.autoscaling": 1,
		},
	}
}

// deleted lists what was deleted of an application, in order.
func deleted(log envtest.RequestLog, app string) (order []string) {
	for _, r := range log {
		if r.Verb == "delete" && (r.Name == app || len(r.Name) > len(app) && r.Name[:len(app)+1] == app+"-") {
			order = append(order, r.Resource+"/"+r.Name)
		}
	}
	return order
}

// nothingLeft fails if an object still carries the label of a primary.
func (d *demo) nothingLeft(ctx context.Context) error {
	for _, list := range []client.ObjectList{
		&corev1.ConfigMapList{}, &corev1.SecretList{}, &corev1.ServiceList{},
		&appsv1.StatefulSetList{}, &appsv1.DeploymentList{},
	} {
		if err := d.client.List(ctx, list, client.HasLabels{"espalier.dev/owner"}); err != nil {
			return err
		}
		if n := meta.LenList(list); n > 0 {
			return fmt.Errorf("%d objects of %T are left", n, list)
		}
	}
	return nil
}

// SPDX-License-Identifier: Apache-2.0

package main

import "context"

// commands is how many lines the commands take.
const commands = 9

// stayUp says how to reach the control plane, and shows what happens to it until ctx ends.
func (d *demo) stayUp(ctx context.Context) {
	d.display.title("Everything stays up until Ctrl-C: it is your turn")
	d.display.say(`
export KUBECONFIG=%s
kubectl get webapps,deployments,jobs
kubectl describe webapp blog
kubectl patch webapp blog --type=merge --patch '{"spec": {"expose": true}}'
kubectl delete service shop
kubectl delete webapp shop
`, d.env.KubeconfigPath())
	open := d.open(step{})
	stop := d.display.animate(func(width, height int) []string {
		return d.frame(open(), width, height-commands) // which stay in sight
	})
	<-ctx.Done()
	stop()
	d.display.say("stopping: %v", context.Cause(ctx))
}

// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/espalier-dev/espalier/envtest"
)

// account is what a step has cost.
type account struct {
	step
	took     time.Duration
	requests envtest.RequestLog
	runs     runs
}

// Writes to a WebApp itself.
const (
	finalizerWrite = "apply webapps.webapp.example.espalier.dev"
	statusWrite    = "apply webapps.webapp.example.espalier.dev/status"
)

func (a *account) writes() envtest.RequestLog { return a.requests.Where(envtest.Request.Write) }

// most is how many writes of a kind the step may need. Statuses are limited by what there was to say.
func (a *account) most(operation string) int {
	if operation == statusWrite {
		return a.runs.news
	}
	return a.limits[operation]
}

func (a *account) total() string {
	return fmt.Sprintf("%.1f s, requests by the operator: %d, writes: %d",
		a.took.Seconds(), len(a.requests), len(a.writes()))
}

// soFar says in a line where a step stands.
func (a *account) soFar() string {
	if a.note != nil {
		return a.total() + "   " + a.note(a)
	}
	if writes := a.writes(); len(writes) > 0 {
		last := writes[len(writes)-1]
		return fmt.Sprintf("%s   the last: %s %s %s", a.total(), last.Verb, nameOf(last), last.Name)
	}
	return a.total()
}

// story says what a step has touched, a line for each kind of write.
func (a *account) story(width int) string {
	var order []string
	objects, times, widest := map[string][]string{}, map[string]int{}, 0
	for _, r := range a.writes() {
		write := r.Verb + " " + nameOf(r)
		if times[write] == 0 {
			order = append(order, write)
		}
		times[write]++
		if !slices.Contains(objects[write], r.Name) {
			objects[write] = append(objects[write], r.Name)
		}
		widest = max(widest, len(write))
	}
	lines := []string{a.total()}
	for _, write := range order {
		lines = append(lines, wrap(fmt.Sprintf("%4d × %-*s  ", times[write], widest, write), objects[write], ", ", width))
	}
	return strings.Join(lines, "\n")
}

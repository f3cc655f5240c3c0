// SPDX-License-Identifier: Apache-2.0

package dependent

import (
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/espalier-dev/espalier/internal/overlay"
	"github.com/espalier-dev/espalier/workflow"
)

// Readiness is the rule of each kind.
func Readiness(kind schema.GroupKind, obj client.Object) workflow.Verdict {
	return readiness(kind, obj)
}

// LastClause is what is passed on of a server's message.
func LastClause(message string) string { return lastClause(message) }

// Remembered counts what an Engine remembers of writes.
func Remembered(e *Engine) int {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	n := 0
	for _, records := range e.records {
		n += len(records)
	}
	for k := range e.sources {
		e.overlay.Each(k.cluster, k.gvk, func(overlay.Key, client.Object) { n++ })
	}
	return n
}

// Age makes every object look as if a heartbeat had moved it since it was last seen.
func Age(e *Engine) {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	for _, records := range e.records {
		for key, rec := range records {
			rec.version = ""
			records[key] = rec
		}
	}
}

// Restart drops all records, as a restart does.
func Restart(e *Engine) {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	clear(e.records)
}

// Unseen counts the answers to writes that the cache hasn't caught up with.
func Unseen(e *Engine) int {
	n := 0
	for _, s := range e.all() {
		e.overlay.Each(s.cluster, s.gvk, func(overlay.Key, client.Object) { n++ })
	}
	return n
}

// Hurry leaves a cache no time to show what it doesn't show, and asks again soon.
func Hurry(e *Engine) { e.patience, e.askAgain = 0, 100*time.Millisecond }

// Classify says what a request came to.
func Classify(doing string, err error) error {
	return classify(schema.GroupKind{Kind: "ConfigMap"}, doing, err)
}

// Watched counts the objects that are watched by themselves.
func Watched(e *Engine) int {
	e.lones.mutex.Lock()
	defer e.lones.mutex.Unlock()
	return len(e.lones.all)
}

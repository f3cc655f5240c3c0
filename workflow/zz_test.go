package workflow_test
import "testing"
func BenchmarkZ(b *testing.B) {
	runner, _ := shaped(b, "none", 200, idle{})
	for b.Loop() { runner.Reconcile(b.Context(), of) }
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/200, "ns/node")
}

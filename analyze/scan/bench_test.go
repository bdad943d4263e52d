package scan

import (
	"testing"
)

// BenchmarkScan reads 400,000 rows of tcp_rcv_est in row groups that overlap by
// pairs, as two rings deliver them.
func BenchmarkScan(b *testing.B) {
	const rows, per = 400_000, 20_000
	var groups [][]wide
	for start := 0; start < rows; start += 2 * per {
		var odd, even []wide
		for i := start; i < start+2*per; i += 2 {
			even = append(even, rowAt(i, "tcp_rcv_est"))
			odd = append(odd, rowAt(i+1, "tcp_rcv_est"))
		}
		groups = append(groups, even, odd)
	}
	data := framedFile(b, [][][]wide{groups}, nil)
	for _, c := range []struct {
		name string
		cols []Col
	}{
		{"columns=4", []Col{col("ts_ns"), col("event"), col("sock"), col("snd_cwnd")}},
		{"columns=all", nil},
	} {
		b.Run(c.name, func(b *testing.B) {
			f, err := open(b, data, Options{})
			must(b, err)
			b.ReportAllocs()
			cwnd := col("snd_cwnd")
			var sum, n int64
			for b.Loop() {
				must(b, f.Scan(Query{Columns: c.cols}, func(r *Row) error {
					sum += r.Int(cwnd)
					n++
					return nil
				}))
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n), "ns/row")
		})
	}
}

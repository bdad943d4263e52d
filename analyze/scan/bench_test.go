package scan_test

import (
	"math/rand/v2"
	"path/filepath"
	"testing"
	"unsafe"

	"netrec/analyze/scan"
	"netrec/record/capture"
	"netrec/record/encode"
	"netrec/schema"
)

// hotCapture records tcp_rcv_est as a busy host sees it: 64 connections, row
// groups of 16,384 rows. With rings > 1 that many groups interleave row by row,
// the worst case of the merge.
func hotCapture(b *testing.B, rows, rings int) string {
	b.Helper()
	path := filepath.Join(b.TempDir(), "hot.parquet")
	w, err := capture.Create(path, false, "netrec bench")
	must(b, err)
	enc := encode.New(names{}, 1_700_000_000_000_000_000)
	e := schema.ByName("tcp_rcv_est")
	const per = 16384
	r := rand.New(rand.NewPCG(3, 3))
	for start := 0; start < rows; start += per * rings {
		for ring := range rings {
			data := make([]byte, per*e.Size())
			for i := range per {
				n := start + i*rings + ring
				row := (*schema.TCPRcvEst)(unsafe.Pointer(&data[i*e.Size()]))
				conn := r.Uint64N(64)
				row.Header = schema.Header{TS: uint64(n)*900 + r.Uint64N(800), Seq: uint64(n), Event: e.ID, CPU: uint16(ring), Ctx: 1,
					Sock: 0xffff888000000000 + conn*0x900, Skb: 0xffff888100000000 + r.Uint64N(4096)*0x100, Pid: int32(1000 + conn/8), Tid: int32(1000 + conn),
					Netns: 4026531840}
				copy(row.Comm[:], "nginx")
				row.Cookie, row.SndUna, row.SndNxt = int64(conn+1), uint32(n)*1448, uint32(n)*1448+14480
				row.SndWnd, row.RcvWnd, row.SndCwnd, row.SndSsthresh = 65536, 65536, int32(10+n%40), 1<<31-1
				row.SkSndbuf, row.SkWmemQueued, row.PacketsOut, row.SRTT = 2626560, int32(n%7)*4096, int32(n%10), int32(20000+r.IntN(3000))
			}
			must(b, w.Add(enc, encode.Batch{Event: e, Data: data}))
		}
		must(b, w.Commit())
	}
	must(b, w.Close())
	return path
}

func BenchmarkScan(b *testing.B) {
	cwnd := scan.Col(schema.ColumnIndex("snd_cwnd"))
	four := []scan.Col{scan.Col(schema.ColumnIndex("ts_ns")), scan.Col(schema.ColumnIndex("event")), scan.Col(schema.ColumnIndex("sock")), cwnd}
	for _, c := range []struct {
		name  string
		rings int
		cols  []scan.Col
	}{
		{"columns=4", 1, four}, {"columns=all", 1, nil}, {"columns=4,interleaved", 4, four},
	} {
		b.Run(c.name, func(b *testing.B) {
			path := hotCapture(b, 1<<19, c.rings)
			f, err := scan.Open(path, scan.Options{})
			must(b, err)
			defer f.Close()
			b.ReportAllocs()
			var sum, n int64
			for b.Loop() {
				must(b, f.Scan(scan.Query{Columns: c.cols}, func(r *scan.Row) error {
					sum += r.Int(scan.IntAt(cwnd))
					n++
					return nil
				}))
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n), "ns/row")
		})
	}
}

func BenchmarkOpen(b *testing.B) {
	path := hotCapture(b, 1<<19, 1)
	b.ReportAllocs()
	for b.Loop() {
		f, err := scan.Open(path, scan.Options{})
		must(b, err)
		b.SetBytes(f.Meta().Size)
		must(b, f.Close())
	}
}

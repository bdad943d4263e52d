package encode

import (
	"io"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"

	"netrec/schema"
)

// BenchmarkGroup encodes a hot event into the wide file. x-typed is its time
// divided by that of parquet-go's typed writer for the same rows as a narrow
// table, taken in the same run; the project promises at most 2.
func BenchmarkGroup(b *testing.B) {
	rcv, sio, skb := rcvEstRows(), sockIORows(), skbConsumeRows()
	b.Run("tcp_rcv_est", func(b *testing.B) { compare(b, "tcp_rcv_est", raw(rcv), narrowRcvEsts(rcv)) })
	drained := slices.Clone(rcv)
	for w := range slices.Chunk(drained, 2000) { // each CPU's ring is emptied in turn
		slices.SortStableFunc(w, func(a, b schema.TCPRcvEst) int { return int(a.CPU) - int(b.CPU) })
	}
	b.Run("tcp_rcv_est_by_cpu", func(b *testing.B) { compare(b, "tcp_rcv_est", raw(drained), narrowRcvEsts(rcv)) })
	b.Run("sock_io", func(b *testing.B) { compare(b, "sock_io", raw(sio), narrowSockIOs(sio)) })
	b.Run("skb_consume", func(b *testing.B) { compare(b, "skb_consume", raw(skb), narrowSkbConsumes(skb)) })
}

func compare[T any](b *testing.B, event string, data []byte, rows []T) {
	batch := Batch{Event: schema.ByName(event), Data: data}
	e := New(names{}, wall)
	var dst []byte
	w := parquet.NewGenericWriter[T](io.Discard, parquet.Compression(&zstd.Codec{Level: zstd.SpeedFastest}), parquet.DataPageVersion(1),
		parquet.PageBufferSize(1<<20), parquet.BloomFilters(parquet.SplitBlockFilter(10, "sock"), parquet.SplitBlockFilter(10, "skb")))
	group := func() {
		var err error
		if dst, _, err = e.Group(dst[:0], 0, batch); err != nil {
			b.Fatal(err)
		}
	}
	write := func() {
		if _, err := w.Write(rows); err != nil {
			b.Fatal(err)
		}
		if err := w.Flush(); err != nil {
			b.Fatal(err)
		}
	}
	group() // both keep their buffers
	write()
	var ours, typed time.Duration
	for b.Loop() {
		start := cpuTime(b)
		group()
		middle := cpuTime(b)
		write()
		ours, typed = ours+middle-start, typed+cpuTime(b)-middle
	}
	n := float64(b.N * len(rows))
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(ours)/n, "ns/row")
	b.ReportMetric(float64(typed)/n, "typed-ns/row")
	b.ReportMetric(float64(ours)/float64(typed), "x-typed")
	b.ReportMetric(float64(len(dst))/float64(len(rows)), "B/row")
}

// cpuTime is the time this process has computed: other work on the machine does
// not count.
func cpuTime(b *testing.B) time.Duration {
	var ru syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &ru); err != nil {
		b.Fatal(err)
	}
	return time.Duration(ru.Utime.Nano() + ru.Stime.Nano())
}

// BenchmarkMixed encodes a group of rare events, interleaved row by row.
func BenchmarkMixed(b *testing.B) {
	e := New(constant{}, wall)
	var batches []Batch
	n := 0
	for i := range schema.Events {
		if ev := &schema.Events[i]; ev.Rare() {
			batches = append(batches, Batch{Event: ev, Data: records(ev, 100, 1)})
			n += 100
		}
	}
	var dst []byte
	start := cpuTime(b)
	for b.Loop() {
		var err error
		if dst, _, err = e.Group(dst[:0], 0, batches...); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(cpuTime(b)-start)/float64(b.N*n), "ns/row")
	b.ReportMetric(float64(len(dst))/float64(n), "B/row")
}

// BenchmarkEncode is what BenchmarkGroup measures of this package, alone, for profiles. An encoder
// that has seen the events of a recording allocates nothing, whatever the number of rows.
func BenchmarkEncode(b *testing.B) {
	rcv, sio, skb := rcvEstRows(), sockIORows(), skbConsumeRows()
	b.Run("tcp_rcv_est", func(b *testing.B) { encodeRows(b, "tcp_rcv_est", raw(rcv), len(rcv)) })
	b.Run("sock_io", func(b *testing.B) { encodeRows(b, "sock_io", raw(sio), len(sio)) })
	b.Run("skb_consume", func(b *testing.B) { encodeRows(b, "skb_consume", raw(skb), len(skb)) })
}

func encodeRows(b *testing.B, event string, data []byte, rows int) {
	const part = 8 // few enough to be encoded between two interruptions
	rows /= part
	batch := Batch{Event: schema.ByName(event), Data: data[:len(data)/part]}
	e := New(names{}, wall)
	var dst []byte
	group := func() {
		var err error
		if dst, _, err = e.Group(dst[:0], 0, batch); err != nil {
			b.Fatal(err)
		}
	}
	group()
	b.ReportAllocs()
	least := time.Hour // other work on the machine makes groups slower, never faster
	for b.Loop() {
		start := time.Now()
		group()
		least = min(least, time.Since(start))
	}
	b.ReportMetric(float64(least)/float64(rows), "least-ns/row")
	b.ReportMetric(float64(len(dst))/float64(rows), "B/row")
}

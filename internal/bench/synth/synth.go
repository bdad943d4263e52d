package synth

import (
	"fmt"
	"time"

	"netrec/record/capture"
	"netrec/record/encode"
	"netrec/schema"
)

// Options say what a capture holds.
type Options struct {
	Rows int64  // at least so many; a scene is not cut
	Seed uint64 // the same seed gives the same rows
}

// Start is when the imaginary recording begins.
var Start = time.Date(2026, 3, 1, 13, 52, 0, 0, time.UTC).UnixNano()

// commitBytes is how much of records a commit holds.
const commitBytes = 24 << 20

// Write makes a capture at the path and gives the number of its rows.
func Write(path string, o Options) (int64, error) {
	w, err := capture.Create(path, true, "netrec synth")
	if err != nil {
		return 0, err
	}
	defer w.Close()
	h := newHost(o.Seed, Start)
	enc := encode.New(names{}, 0)
	if err := describe(w, h, false); err != nil {
		return 0, err
	}
	h.row("meta", at{ts: Start, who: process{999, "netrec"}}).num("key", refKey).num("value", refFact) // for SQL
	pending := 0
	for h.rows < o.Rows {
		pending += h.scene()
		if pending >= commitBytes {
			if err := flush(w, enc, h); err != nil {
				return 0, err
			}
			pending = 0
		}
	}
	if err := flush(w, enc, h); err != nil {
		return 0, err
	}
	if err := describe(w, h, true); err != nil {
		return 0, err
	}
	return h.rows, w.Close()
}

// flush writes the rows so far: frequent events in row groups of their own, the others
// together, as the recorder does.
func flush(w *capture.Writer, enc *encode.Encoder, h *host) error {
	var rare []encode.Batch
	for _, m := range h.all {
		if len(m.data) == 0 {
			continue
		}
		b := encode.Batch{Event: m.event, Data: m.data}
		if m.event.Rare() {
			rare = append(rare, b)
		} else if err := w.Add(enc, b); err != nil {
			return err
		}
	}
	if err := w.Add(enc, rare...); err != nil {
		return err
	}
	if err := w.Commit(); err != nil {
		return fmt.Errorf("commit %d rows: %w", h.rows, err)
	}
	for _, m := range h.all {
		m.data = m.data[:0]
	}
	return nil
}

// Connections that are open at the same time, about.
const open = 400

// scene plays one scene and gives the bytes of its records.
func (h *host) scene() int {
	before := h.bytes()
	h.now += h.wait(3000)
	switch n := h.r.IntN(1000); {
	case len(h.conns) < open/2 || len(h.conns) < open && n < 4:
		if n&1 == 0 {
			h.connect()
		} else {
			h.accept()
		}
	case n < 8:
		h.close(h.r.IntN(len(h.conns)))
	case n < 10:
		h.lookup()
	case n < 12 && h.r.IntN(2) == 0:
		h.serve()
	case n < 12:
		h.ping()
	case n < 14:
		h.drop(h.conns[h.r.IntN(len(h.conns))])
	case n < 15:
		h.sample()
	case n < 16 && h.r.IntN(10) == 0:
		h.scan()
	case n < 16 && h.r.IntN(4) == 0:
		h.count()
	case n < 16:
		h.anything(h.unplayed())
	case n < 500:
		h.send(h.conns[h.r.IntN(len(h.conns))])
	default:
		h.receive(h.conns[h.r.IntN(len(h.conns))])
	}
	return h.bytes() - before
}

func (h *host) bytes() int {
	n := 0
	for _, m := range h.all {
		n += len(m.data)
	}
	return n
}

// unplayed is the event with the fewest rows, the first one in the schema where several
// have as few. Rows that the recorder itself writes are left out.
func (h *host) unplayed() *maker {
	var least *maker
	for _, m := range h.all {
		if !m.event.Own() && (least == nil || m.rows < least.rows) {
			least = m
		}
	}
	return least
}

// describe sets the metadata that a recording has, at its start and at its end.
func describe(w *capture.Writer, h *host, done bool) error {
	rec := schema.Recording{Command: []string{"synth"}, Profile: string(schema.Full), StartNS: Start}
	var hooks []schema.EventHooks
	var counts []schema.Count
	for _, m := range h.all {
		if m.event.Own() {
			continue
		}
		rec.Events = append(rec.Events, m.event.Name)
		seen := schema.EventHooks{Event: m.event.Name, State: schema.HookAttached}
		for _, k := range m.event.Ladder[0] {
			seen.Hooks = append(seen.Hooks, k.String())
		}
		hooks = append(hooks, seen)
		counts = append(counts, schema.Count{Event: m.event.Name, Generated: m.rows, Recorded: m.rows})
	}
	counters := schema.Counters{Start: map[string]int64{"TcpRetransSegs": 0}}
	if done {
		rec.StopNS, rec.End = h.now, "count"
		counters.Stop = map[string]int64{"TcpRetransSegs": h.makers["tcp_retrans"].rows}
	}
	for key, v := range map[string]any{schema.KeyRecording: rec, schema.KeyHooks: hooks, schema.KeyLosses: counts, schema.KeyCounters: counters,
		schema.KeyVersion: "synth",
		schema.KeyHost:    schema.Host{Name: "synth", Kernel: "6.12.0", Machine: "x86_64", CPUs: cpus, Zone: "UTC"},
		schema.KeyInterfaces: []schema.Interface{{Netns: netns, Index: 2, Name: "eth0", MTU: 1500, Type: "ether"},
			{Netns: netns, Index: 3, Name: "eth1", MTU: 1500, Type: "ether"}}} {
		if err := w.Set(key, v); err != nil {
			return err
		}
	}
	return nil
}

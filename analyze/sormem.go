package analyze

import (
	"fmt"
	"strings"

	"netrec/analyze/agg"
	"netrec/analyze/engine"
	"netrec/analyze/render"
	"netrec/analyze/scan"
)

var _ = register(engine.Analysis{
	Name:     "sormem",
	Group:    groupFull,
	Question: "how full are socket receive buffers, compared with their limit, and did any overflow?",
	Help: `First a line for each packet that found no room in a receive queue, and for each
request for memory that was refused to a receiving socket. Then the memory that receive
queues held when a receive call was made, and the limit of the buffer, in bytes; where
segments were recorded, also @rmem_arrival, what the queue held when a segment of TCP
arrived, which shows peaks between two reads. Last the sockets whose buffer was fullest.

--fill shows how full the buffers were in percent instead of bytes; with --by
sock,second over time. A socket that is read often counts often. "allocated" is memory
of all sockets of the protocol, in pages. --compat also has the lines about sending
sockets, as the original does, and leaves the sockets out.`,
	Example: "sormem --fill --by comm",
	Options: []engine.Option{
		{Name: "fill", Kind: engine.Flag, Doc: "how full, in percent"},
		engine.Top("10", "how many of the fullest sockets"),
		engine.By("", append([]string{"second"}, engine.SocketKeys...)...),
		engine.Compat("lines about sends too, no list of sockets"),
	},
	New: newSormem,
})

type sormem struct {
	in                    *engine.Input
	lines                 *render.Table
	alloc, limit, arrival *mapOf[engine.Key, agg.Log2]
	fill                  *mapOf[engine.Key, linear]
	keys                  *engine.Keys
	worst                 *fullest
	percent, compat       bool

	late, reads, sends                                         int64
	dir, rmem, entry, rcvbuf, truesize, pages, pid, comm, prot scan.Col
}

func newSormem(in *engine.Input) engine.Fold {
	f := &sormem{in: in, percent: in.Flag("fill"), compat: in.Flag("compat"), keys: in.Keys(nil), dir: in.Str("dir"), rmem: in.Int("sk_rmem_alloc"), entry: in.Int("rmem_entry_bytes"),
		rcvbuf: in.Int("sk_rcvbuf"), truesize: in.Int("truesize_bytes"), pages: in.Int("mem_allocated_pages"), pid: in.Int("pid"), comm: in.Str("comm"), prot: in.Str("prot_name")}
	in.Sockets("")
	f.lines = in.Table(render.Spec{Name: "overflows", Look: render.Lines, Columns: join([]render.Column{render.Col("line", render.String).Text("line", 0).ForPeople(),
		render.Col("event", render.String), render.Col("rmem_alloc", render.Int).In("bytes"), render.Col("rcvbuf", render.Int).In("bytes"), render.Col("skb_bytes", render.Int).In("bytes"),
		render.Col("allocated_pages", render.Int).In("pages"), render.Col("pid", render.Int), render.Col("comm", render.String), render.Col("ts_ns", render.Int).In("ns")}, identity())})
	f.alloc, f.limit = histOf[engine.Key](in, "rmem_alloc", "bytes", f.keys.Columns...), histOf[engine.Key](in, "rmem_limit", "bytes", f.keys.Columns...)
	f.arrival = histOf[engine.Key](in, "rmem_arrival", "bytes", f.keys.Columns...)
	f.fill = percentOf[engine.Key](in, "fill_percent", f.keys.Columns...)
	in.On("sock_io", f.io)
	in.Use("sock_rcvqueue_full", "packets without room are not told", f.full)
	in.Use("sock_exceed_buf_limit", "refused memory is not told", f.exceeded)
	if f.worst = newFullest(in, in.Number("top")); !f.compat {
		in.Use("tcp_rcv_est", "", f.segment)
		in.Use("skb_drop", "drops of full sockets are not counted", f.worst.drop)
	}
	switch {
	case f.percent:
		return also(f.fill, f.worst, f)
	case f.compat:
		return also(f.alloc, f.limit, f)
	}
	return also(f.alloc, f.arrival, f.limit, f.worst, f)
}

func (f *sormem) io(r *engine.Row) {
	if r.Str(f.dir) != "recv" || !r.Has(f.rmem) {
		return
	}
	f.reads++
	held, limit, key := r.Int(f.entry), r.Int(f.rcvbuf), f.keys.Of(r)
	if !r.Has(f.entry) {
		held = r.Int(f.rmem)
		f.late++
	}
	f.alloc.Add(key, held)
	f.limit.Add(key, limit)
	if limit > 0 {
		f.fill.Add(key, 100*held/limit)
	}
	f.worst.sample(r, held, limit)
}

func (f *sormem) segment(r *engine.Row) {
	if r.Has(f.rmem) {
		f.arrival.Add(f.keys.Of(r), r.Int(f.rmem))
		f.worst.sample(r, r.Int(f.rmem), 0)
	}
}

func (f *sormem) full(r *engine.Row) {
	f.worst.overflow(r)
	f.line(r, fmt.Sprintf("rmem_alloc %d > rcvbuf %d, skb size %d", r.Int(f.rmem), r.Int(f.rcvbuf), r.Int(f.truesize)))
}

func (f *sormem) exceeded(r *engine.Row) {
	if r.Str(f.dir) == "send" {
		if f.sends++; !f.compat {
			return
		}
	}
	f.worst.overflow(r)
	f.line(r, fmt.Sprintf("rmem_alloc %d, allocated %d", r.Int(f.rmem), r.Int(f.pages)))
}

func (f *sormem) line(r *engine.Row, what string) {
	pid, comm := f.in.Owner(r)
	var s agg.Socket
	if r.Sock != nil {
		s = *r.Sock
	}
	if what = "tracepoint:sock:" + r.Event.Name + " " + what; !f.compat {
		what += fmt.Sprintf(", %s > %s %s", end(s.Laddr, s.Lport), end(s.Raddr, s.Rport), strings.TrimSpace(r.Str(f.prot)+" "+comm))
	}
	f.lines.Str(strings.TrimSpace(what)).Str(r.Event.Name).IntOr(r.Int(f.rmem), r.Has(f.rmem)).IntOr(r.Int(f.rcvbuf), r.Has(f.rcvbuf)).
		IntOr(r.Int(f.truesize), r.Has(f.truesize)).IntOr(r.Int(f.pages), r.Has(f.pages)).IntOr(pid, pid != 0).StrOr(comm).Int(r.TS)
	putIdentity(f.lines, &s).End()
}

// Finish says how the numbers were taken, and what the host allows.
func (f *sormem) Finish(a *render.Answer) {
	if f.late > 0 {
		a.Note(fmt.Sprintf("%s of %s show the queue after the call: what it held before is recorded with --profile full, where the kernel lets it be seen", engine.Group(f.late), plural(f.reads, "read", "reads")))
	}
	if f.sends > 0 && !f.compat {
		a.Note(fmt.Sprintf("%s of memory to sending sockets left out; the original prints them (--compat)", plural(f.sends, "refusal", "refusals")))
	}
	if s := f.in.Meta.Sysctls["net.ipv4.tcp_rmem"]; s != "" && f.reads > 0 {
		a.Note("tcp_rmem of the host (least, at the start, most): " + s)
	}
}

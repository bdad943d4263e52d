package analyze

import (
	"fmt"
	"slices"
	"strings"

	"netrec/analyze/agg"
	"netrec/analyze/calls"
	"netrec/analyze/engine"
	"netrec/analyze/line"
	"netrec/analyze/render"
	"netrec/analyze/scan"
)

var _ = register(engine.Analysis{
	Name:     "solife",
	Group:    groupLife,
	Question: "how long does each socket session last for the program that has it?",
	Help: `One line per session of a socket of any protocol, from connect(2) or accept(2) to the close
of its last descriptor. Copies by dup and fork, and descriptors passed to other processes,
keep it open. TYPE is C for connected, A for accepted. PID, COMM and FD are those at the
start. TX_B and RX_B are bytes of send and receive calls. MS counts from the start of
connect (from its return with --from-exit), or from the return of accept.

Failed connects are listed separately, and so are sessions that are still open at the end
or older than the recording. A non-blocking connect that fails later counts as a session
here; soconnect shows how it ended.`,
	Example: "solife --comm nginx",
	Options: []engine.Option{{Name: "from-exit", Kind: engine.Flag, Doc: "count from the return of connect"}},
	New:     newSolife,
})

type solife struct {
	in             *engine.Input
	t, open, fails *render.Table
	files          agg.PerFile[openSock]
	names          agg.Intern
	exit           bool

	unseen, lost int64

	bytes *engine.Bytes

	Pid, Fd, Ret, DurNs              scan.Int
	Comm, Protocol, Family, ProtName scan.Str
}

func newSolife(in *engine.Input) engine.Fold {
	f := &solife{in: in, exit: in.Flag("from-exit"), bytes: in.Bytes()}
	in.Bind(f)
	in.Descriptors("they have no beginning and are listed apart if they are used")
	in.On("sys_connect", f.connect)
	in.On("sys_accept", f.accept)
	in.Use("sock_io", "bytes are not known", f.io)
	in.OnFileEnd(f.ended)
	cols := openSockColumns()
	f.t = in.Table(render.Spec{Name: "sessions", Columns: cols})
	f.open = in.Table(render.Spec{Name: "open", Title: "at least this long: open at the end of the recording, or older", Columns: cols}).Hold(1 << 16)
	f.fails = in.Table(render.Spec{Name: "failed", Title: "connects that failed", Columns: append(cols[:len(cols):len(cols)], render.Col("error", render.String).Text("ERROR", 0))}).Hold(1 << 16)
	return f
}

func (f *solife) begin(r *engine.Row, s *openSock, kind string, fd, start int64) {
	*s = openSock{start: start, ts: r.TS, pid: r.Int(f.Pid), fd: fd, comm: f.names.Get(r.Str(f.Comm)), proto: f.names.Get(r.Str(f.Protocol)), kind: kind}
	f.learn(r, s)
	if s.proto != "" && s.proto != "ip" {
		return
	}
	// The row of accept does not say it; TCP is what waits in a queue of IP's.
	if s.proto = f.names.Get(r.Str(f.Family)); kind == "A" && strings.HasPrefix(s.proto, "inet") {
		s.proto = "tcp"
	}
}

// learn takes what is known of the socket by now.
func (f *solife) learn(r *engine.Row, s *openSock) {
	if r.Sock != nil {
		s.ends = *r.Sock
		if s.proto == "" {
			s.proto = r.Sock.Protocol
		}
	}
}

func (f *solife) connect(r *engine.Row) {
	ret, start := r.Int(f.Ret), r.TS-r.Int(f.DurNs)
	if f.exit {
		start = r.TS
	}
	if ret < 0 && ret != -calls.EINPROGRESS {
		if ret != -calls.EALREADY && ret != -calls.EISCONN {
			var s openSock
			f.begin(r, &s, "C", descriptorOf(r, f.Fd), r.TS-r.Int(f.DurNs))
			s.put(f.fails, r.TS, false).Str(render.Errno(ret)).End()
		}
		return
	}
	if r.File != nil && f.files.Of(r.File).start == 0 {
		f.begin(r, f.files.Of(r.File), "C", descriptorOf(r, f.Fd), start)
	}
}

func (f *solife) accept(r *engine.Row) {
	if r.File != nil && r.Int(f.Ret) >= 0 {
		f.begin(r, f.files.Of(r.File), "A", descriptorOf(r, f.Ret), r.TS)
	}
}

func (f *solife) io(r *engine.Row) {
	if r.File == nil {
		return
	}
	s := f.files.Of(r.File)
	f.learn(r, s)
	if n, sent := f.bytes.Moved(r); sent {
		s.tx += n
	} else {
		s.rx += n
	}
}

func (f *solife) ended(file *agg.File, how agg.FileEnd, ts int64) {
	s := f.files.Of(file)
	if k := f.in.SocketAt(file.Addr); k != nil && (s.ends.Serial == k.Serial || s.ends.Addr == 0) {
		s.ends = *k
	}
	switch s.cut = f.in.Thinned(&s.ends, s.start, ts); {
	case s.start != 0 && how == agg.StillOpen:
		s.put(f.open, f.in.End(), file.Passed).End()
	case s.start != 0 && how == agg.Unseen:
		f.lost++
		s.put(f.open, max(ts, s.ts), file.Passed).End()
	case s.start != 0:
		if how == agg.Replaced {
			f.unseen++
		}
		s.put(f.t, ts, file.Passed).End()
	case file.Older && s.tx+s.rx > 0:
		s.start, s.pid, s.fd, s.comm, s.kind = f.in.Start(), file.Pid, file.FD, file.Comm, "?"
		s.put(f.open, min(ts, f.in.End()), file.Passed).End()
	}
}

// Finish lists what has no end or never began.
func (f *solife) Finish(a *render.Answer) {
	f.fails.Show()
	f.open.Show()
	if f.lost > 0 {
		a.Note(fmt.Sprintf("%s whose end may be in lost rows: only the certain part is shown", engine.Plural(f.lost, "session", "sessions")))
	}
	if f.unseen > 0 {
		a.Note(fmt.Sprintf("%s whose close was not recorded: they end where their address was reused", engine.Plural(f.unseen, "session", "sessions")))
	}
}

// openSock is a socket in use: a session of a program.
type openSock struct {
	start, ts   int64 // start is 0 without a session
	pid, fd     int64
	comm, proto string
	kind        string
	tx, rx      int64
	cut         bool // calls that moved bytes were left out
	ends        agg.Socket
}

// openSockColumns are the columns of a session.
func openSockColumns() []render.Column {
	return slices.Concat([]render.Column{render.Col("pid", render.Int).Text("PID", -7), render.Col("comm", render.String).Text("COMM", -15).Cut(), render.Col("type", render.String).Text("TYPE", -4),
		render.Col("proto", render.String).Text("PROTO", -7), render.Col("fd", render.Int).Text("FD", -4)}, line.Ends(), []render.Column{render.Col("tx_bytes", render.Int).Text("TX_B", 9).In("bytes"),
		render.Col("rx_bytes", render.Int).Text("RX_B", 9).In("bytes"), render.Col("ms", render.Int).Text("MS", 0).In("ms"), render.Col("life_ns", render.Int).In("ns"), render.Col("passed", render.Int), render.Col("ts_ns", render.Int).In("ns")}, line.Identity())
}

// put fills them, for a session that lasted until then.
func (s *openSock) put(t *render.Table, until int64, passed bool) *render.Table {
	several := int64(0)
	if passed {
		several = 1
	}
	t.Int(s.pid).Str(s.comm).Str(s.kind).StrOr(s.proto).IntOr(s.fd, s.fd >= 0)
	line.PutEnds(t, &s.ends).IntOr(s.tx, !s.cut).IntOr(s.rx, !s.cut).Int((until - s.start) / 1e6).Int(until - s.start)
	return line.PutIdentity(t.Int(several).Int(s.ts), &s.ends)
}

// descriptorOf is -1 where io_uring hides it.
func descriptorOf(r *engine.Row, col scan.Int) int64 {
	if !r.Has(col) {
		return -1
	}
	return r.Int(col)
}

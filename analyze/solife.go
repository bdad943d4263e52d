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
	t, open, fails *render.List[sockLine]
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
	f.t = render.ListOf(in.Table, render.Spec{Name: "sessions"}, sockLineFields...)
	f.open = render.ListOf(in.Table, render.Spec{Name: "open", Title: "at least this long: open at the end of the recording, or older"}, sockLineFields...)
	f.fails = render.ListOf(in.Table, render.Spec{Name: "failed", Title: "connects that failed"},
		append(slices.Clip(sockLineFields), render.Text("error", func(s *sockLine) string { return s.error }).Text("ERROR", 0))...)
	f.open.Hold(1 << 16)
	f.fails.Hold(1 << 16)
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
			f.fails.Line(sockLine{openSock: &s, until: r.TS, error: render.Errno(ret)})
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
		f.open.Line(sockLine{openSock: s, until: f.in.End(), passed: file.Passed})
	case s.start != 0 && how == agg.Unseen:
		f.lost++
		f.open.Line(sockLine{openSock: s, until: max(ts, s.ts), passed: file.Passed})
	case s.start != 0:
		if how == agg.Replaced {
			f.unseen++
		}
		f.t.Line(sockLine{openSock: s, until: ts, passed: file.Passed})
	case file.Older && s.tx+s.rx > 0:
		s.start, s.pid, s.fd, s.comm, s.kind = f.in.Start(), file.Pid, file.FD, file.Comm, "?"
		f.open.Line(sockLine{openSock: s, until: min(ts, f.in.End()), passed: file.Passed})
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

// sockLine is a session as a line shows it.
type sockLine struct {
	*openSock
	until  int64
	passed bool   // the descriptor was handed to other processes
	error  string // of connects that failed
}

var sockLineFields = slices.Concat([]render.Field[sockLine]{
	render.Num("pid", func(s *sockLine) int64 { return s.pid }).Text("PID", -7),
	render.Text("comm", func(s *sockLine) string { return s.comm }).Text("COMM", -15).Cut(),
	render.Text("type", func(s *sockLine) string { return s.kind }).Text("TYPE", -4),
	render.TextOr("proto", func(s *sockLine) string { return s.proto }).Text("PROTO", -7),
	render.NumOr("fd", func(s *sockLine) (int64, bool) { return s.fd, s.fd >= 0 }).Text("FD", -4),
}, render.Within(func(s *sockLine) *agg.Socket { return &s.ends }, line.EndFields...), []render.Field[sockLine]{
	render.NumOr("tx_bytes", func(s *sockLine) (int64, bool) { return s.tx, !s.cut }).Text("TX_B", 9).In("bytes"),
	render.NumOr("rx_bytes", func(s *sockLine) (int64, bool) { return s.rx, !s.cut }).Text("RX_B", 9).In("bytes"),
	render.Num("ms", func(s *sockLine) int64 { return (s.until - s.start) / 1e6 }).Text("MS", 0).In("ms"),
	render.Num("life_ns", func(s *sockLine) int64 { return s.until - s.start }).In("ns"),
	render.Flag("passed", func(s *sockLine) bool { return s.passed }),
	render.Num("ts_ns", func(s *sockLine) int64 { return s.ts }).In("ns"),
}, render.Within(func(s *sockLine) *agg.Socket { return &s.ends }, line.IdentityFields...))

// descriptorOf is -1 where io_uring hides it.
func descriptorOf(r *engine.Row, col scan.Int) int64 {
	if !r.Has(col) {
		return -1
	}
	return r.Int(col)
}

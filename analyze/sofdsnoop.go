package analyze

import (
	"fmt"

	"netrec/analyze/agg"
	"netrec/analyze/engine"
	"netrec/analyze/line"
	"netrec/analyze/render"
	"netrec/analyze/scan"
	"netrec/analyze/shape"
)

var _ = register(engine.Analysis{
	Name:     "sofdsnoop",
	Group:    groupWho,
	Question: "which descriptors travel over UNIX sockets, from whom to whom?",
	Help: `One line for each descriptor that was put into a message of a UNIX socket (SEND) or taken
out of one (RECV). SOCKET is the descriptor and the address of the UNIX socket. FD is the
passed descriptor, in the process of the line. NAME is what it refers to, as the recorder
found it at that moment: a path, or the type of file with its inode, and for sockets both
ends. FROM, on RECV, is the thread that sent it, matched by the address of the file.

A sent descriptor can be lost with its message. BCC looks names up later, and only for
sent descriptors: --compat prints N/A for the rest and leaves FROM out.
Descriptors taken with pidfd_getfd(2) are not sent over a socket and are not shown.`,
	Example: "sofdsnoop --timestamp",
	Options: []engine.Option{
		{Name: "timestamp", Short: "T", Kind: engine.Flag, Doc: "seconds since the start"},
		{Name: "tid", Short: "t", Kind: engine.Number, Doc: "only this thread"},
		{Name: "name", Short: "n", Kind: engine.Text, Doc: "only threads with this name"},
		engine.Compat("names of sent descriptors only"),
	},
	New: newSofdsnoop,
})

// fdSender is who sent a file.
type fdSender struct {
	tid  int64
	comm string
}

// maxSent bounds what waits to be received.
const maxSent = 1 << 16

type sofdsnoop struct {
	in     *engine.Input
	t      *render.List[passedFD]
	stamp  *line.Stamp
	compat bool
	sent   map[uint64][]fdSender // by file, in the order of sending
	names  agg.Intern

	waiting        int // in sent
	lost, nameless int64

	Tid, Fd, FdPassed, File, FileIno, Sock, PassedSock scan.Int
	Comm, Dir, FileType, FileName                      scan.Str
}

func newSofdsnoop(in *engine.Input) engine.Fold {
	f := &sofdsnoop{in: in, compat: in.Flag("compat"), sent: map[uint64][]fdSender{}}
	in.Bind(f)
	f.stamp = line.NewStamp(in, false, in.Flag("timestamp"), 9)
	f.stamp.Compat = f.compat
	in.Sockets("their ends are those of the start")
	f.t = render.ListOf(in.Table, render.Spec{Name: "descriptors"}, f.fields()...)
	in.On("scm_fd", f.row)
	in.OnLoss([]string{"scm_fd"}, f.forget) // who sent or took one may be among them
	return f
}

// passedFD is a descriptor that was passed, as a line shows it.
type passedFD struct {
	*engine.Row
	action, name, from string
}

func (f *sofdsnoop) fields() []render.Field[passedFD] {
	ts := func(p *passedFD) int64 { return p.TS }
	return append(line.StampFields(f.stamp, -14, ts),
		render.Text("action", func(p *passedFD) string { return p.action }).Text("ACTION", -6),
		render.Num("tid", func(p *passedFD) int64 { return p.Int(f.Tid) }).Text("TID", -6),
		render.Text("comm", func(p *passedFD) string { return p.Str(f.Comm) }).Text("COMM", -16),
		render.Text("socket", func(p *passedFD) string { return f.socket(p.Row) }).Text("SOCKET", -25),
		render.Num("fd", func(p *passedFD) int64 { return p.Int(f.FdPassed) }).Text("FD", -5),
		render.Text("name", func(p *passedFD) string { return p.name }).Text("NAME", -25),
		render.TextOr("from", func(p *passedFD) string { return p.from }).TextIf(!f.compat, "FROM", 0),
		render.Address("file", func(p *passedFD) uint64 { return p.Uint(f.File) }),
		render.Text("file_type", func(p *passedFD) string { return p.Str(f.FileType) }),
		render.NonZero("passed_sock", func(p *passedFD) int64 { return p.Int(f.PassedSock) }).As(render.Addr),
		render.Num("ts_ns", ts).In("ns"))
}

// socket is the UNIX socket and its descriptor.
func (f *sofdsnoop) socket(r *engine.Row) string {
	if !r.Has(f.Fd) {
		return fmt.Sprintf("?:0x%x", r.Uint(f.Sock))
	}
	return fmt.Sprintf("%d:0x%x", r.Int(f.Fd), r.Uint(f.Sock))
}

func (f *sofdsnoop) row(r *engine.Row) {
	send := r.Str(f.Dir) == "send"
	from := f.match(r, send)
	if tid := f.in.Number("tid"); tid != 0 && int64(tid) != r.Int(f.Tid) {
		return
	}
	if name := f.in.Text("name"); name != "" && name != r.Str(f.Comm) {
		return
	}
	action, name := "RECV", f.what(r)
	if send {
		action = "SEND"
	} else if f.nameless++; f.compat {
		name = "N/A"
	}
	f.t.Line(passedFD{r, action, name, from})
}

// match remembers who sends a file and finds who sent the one received.
func (f *sofdsnoop) match(r *engine.Row, send bool) string {
	file := r.Uint(f.File)
	if send {
		if f.waiting >= maxSent {
			f.forget()
		}
		f.waiting++
		f.sent[file] = append(f.sent[file], fdSender{r.Int(f.Tid), f.names.Get(r.Str(f.Comm))})
		return ""
	}
	q := f.sent[file]
	if len(q) == 0 {
		return ""
	}
	f.waiting--
	if f.sent[file] = q[1:]; len(q) == 1 {
		delete(f.sent, file)
	}
	return fmt.Sprintf("%d %s", q[0].tid, q[0].comm)
}

// forget gives up what is on its way.
func (f *sofdsnoop) forget() {
	f.lost += int64(f.waiting)
	f.waiting = 0
	clear(f.sent)
}

// what is the name of the file, or what kind it is of.
func (f *sofdsnoop) what(r *engine.Row) string {
	if name := r.Str(f.FileName); name != "" {
		return name
	}
	name := fmt.Sprintf("%s:[%d]", r.Str(f.FileType), r.Int(f.FileIno))
	if r.Int(f.PassedSock) == 0 {
		return name
	}
	if s := f.in.SocketAt(r.Uint(f.PassedSock)); s != nil && s.Laddr != "" {
		name += " " + render.Endpoint(s.Laddr, s.Lport) + ">" + render.Endpoint(s.Raddr, s.Rport)
	}
	return name
}

// Finish says what was not received.
func (f *sofdsnoop) Finish(a *render.Answer) {
	names := engine.Plural(f.nameless, "received descriptor", "received descriptors")
	shape.NoteRules(a, f.nameless, f.compat, names+" without a name, as in BCC", names+" with a name, where BCC shows N/A (--compat)")
	if f.lost += int64(f.waiting); f.lost > 0 {
		a.Note(fmt.Sprintf("%s sent, with no recorded receive", engine.Plural(f.lost, "descriptor", "descriptors")))
	}
}

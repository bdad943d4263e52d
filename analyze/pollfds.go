package analyze

import (
	"fmt"

	"netrec/analyze/agg"
	"netrec/analyze/engine"
	"netrec/analyze/render"
	"netrec/analyze/scan"
	"netrec/analyze/shape"
)

var _ = register(engine.Analysis{
	Name:     "pollfds",
	Aliases:  []string{"pollfanout"},
	Group:    groupFull,
	Question: "how many descriptors do programs wait on, and how many of them are ready?",
	Help: `Calls of poll(2) and ppoll(2) by process and number of descriptors, rarest first. Then, for
each process, the percentage of descriptors that were ready when a call returned with
something. A program that waits on hundreds of descriptors for one of them makes the kernel
check all of them each time.

--any also counts select(2), epoll_wait(2) and relatives. For select these are the
descriptors in its sets (below 256). For epoll these are the descriptors added to the
instance since the recording began; if an instance gets the number of a closed one, it
inherits its descriptors here. The original hooks only poll(2); --compat does the same. The
last table shows what the descriptors refer to, if their opening or use was recorded;
descriptors in an epoll instance count when they are ready.`,
	Example: "pollfds --any --by pid,comm,func,nfds",
	Options: []engine.Option{
		{Name: "any", Short: "a", Kind: engine.Flag, Doc: "also select and epoll"},
		engine.By("comm,nfds", "pid", "tid", "func", "second", "cgroup"),
		engine.Compat("poll(2) alone"),
	},
	New: newPollfds,
})

type pollfds struct {
	in          *engine.Input
	calls       *shape.Map[engine.Key, int64]
	share       *shape.Map[engine.Key, shape.LinearHist]
	keys        *engine.Keys
	others      *engine.Keys // without the number of descriptors
	types       pollTypes
	epolls      agg.Epolls
	all, compat bool
	watched     int64 // by the row at hand

	left, ppolls, unnamed, timeouts, polls int64

	Nfds, Epfd, Pid, Ret, Fd, EpollData scan.Int
	Func, Fds, Ready, EpollOp           scan.Str
}

func newPollfds(in *engine.Input) engine.Fold {
	f := &pollfds{in: in, all: in.Flag("any"), compat: in.Flag("compat")}
	in.Bind(f)
	f.keys = in.Keys(map[string]engine.KeyDef{"nfds": {render.Num("nfds", func(*engine.Row) int64 { return f.watched })}})
	f.calls = shape.Count(in, "calls", f.keys.Fields...)
	f.calls.Table.Unnamed = true
	f.others = in.Keys(map[string]engine.KeyDef{"nfds": nil})
	f.share = shape.Percent(in, "ready_percent", f.others.Fields...)
	f.types.in = in
	in.Descriptors("")
	in.On("sys_poll", f.poll)
	if f.all {
		in.Context("sys_epoll_ctl", "how many descriptors an epoll instance has is not known", f.control)
	}
	if f.compat {
		return shape.Also(f.calls, f)
	}
	return shape.Also(f.calls, f.share, f)
}

func (f *pollfds) control(r *engine.Row) {
	if r.Int(f.Ret) == 0 {
		f.epolls.Control(r.Str(f.EpollOp), r.Int(f.Pid), r.Int(f.Epfd), r.Int(f.Fd), r.Uint(f.EpollData), r.File)
	}
}

func (f *pollfds) poll(r *engine.Row) {
	pid := r.Int(f.Pid)
	switch fn := r.Str(f.Func); {
	case fn == "ppoll" && f.compat:
		f.ppolls++
		return
	case fn == "poll", fn == "ppoll":
		if f.watched = r.Int(f.Nfds); fn == "ppoll" {
			f.ppolls++
		}
	case !f.all:
		f.left++
		return
	case fn == "select" || fn == "pselect6":
		f.watched = 0
	default:
		f.watched = f.epolls.Size(pid, r.Int(f.Epfd))
	}
	entries := f.look(r.Str(f.Fds), r, func(t *pollType) { t.watched++ })
	f.look(r.Str(f.Ready), r, func(t *pollType) { t.ready++ })
	f.watched = max(f.watched, entries)
	f.calls.Add(f.keys.Of(r), 1)
	ret := r.Int(f.Ret)
	if f.polls++; ret == 0 {
		f.timeouts++
	}
	if ret > 0 && f.watched > 0 {
		f.share.Add(f.others.Of(r), min(100*ret/f.watched, 100))
	}
}

// look counts the descriptors of a list of the call's, each by its type.
func (f *pollfds) look(list string, r *engine.Row, count func(*pollType)) int64 {
	n, pid := int64(0), r.Int(f.Pid)
	for {
		e, rest, ok := agg.NextPoll(list)
		switch list = rest; {
		case !ok:
			return n
		case e.More > 0:
			n += e.More
			f.unnamed += e.More
			continue
		case e.Epoll:
			count(f.types.of(f.epolls.File(pid, r.Int(f.Epfd), e.Data)))
		default:
			count(f.types.of(f.in.FD(pid, e.FD)))
		}
		n++
	}
}

// Finish says what the descriptors are.
func (f *pollfds) Finish(a *render.Answer) {
	if !f.compat {
		f.types.Finish(a)
	}
	if f.timeouts > 0 {
		a.Note(fmt.Sprintf("%s of %s timed out with nothing ready", engine.Thousands(f.timeouts), engine.Plural(f.polls, "call", "calls")))
	}
	if f.unnamed > 0 && !f.compat {
		a.Note(engine.Plural(f.unnamed, "descriptor", "descriptors") + " have no type: the recorder truncates long lists")
	}
	shape.NoteRules(a, f.ppolls, f.compat, engine.Plural(f.ppolls, "call", "calls")+" of ppoll(2) left out, as in the original",
		engine.Plural(f.ppolls, "call", "calls")+" of ppoll(2) among them, which the original does not see (--compat)")
	if f.left > 0 {
		a.Note(fmt.Sprintf("left out %s of other kinds; --any counts them", engine.Plural(f.left, "call", "calls")))
	}
}

// pollTypes counts what the descriptors are that programs wait on.
type pollTypes struct {
	in    *engine.Input
	types agg.Keyed[shape.Text, pollType]
}

// pollType is how often descriptors of a type were waited on, and how often one was ready.
type pollType struct{ watched, ready int64 }

// otherFile is the type of what is no socket, or not known to be one.
const otherFile = "other or unknown"

// of is the count of the type of a file.
func (f *pollTypes) of(file *agg.File) *pollType {
	name := otherFile
	if file != nil {
		name = "socket"
		s := f.in.SocketAt(file.Addr)
		if s != nil && s.Protocol != "" && s.Protocol != "ip" { // number 0 is the default of any family
			name = s.Protocol
		}
		if s != nil && s.State == "LISTEN" {
			name += " listener"
		}
	}
	if t := f.types.At(shape.Text(name)); t != nil {
		return t
	}
	return &pollType{}
}

// Finish lists the types, most watched first.
func (f *pollTypes) Finish(*render.Answer) {
	type line = shape.Entry[shape.Text, pollType]
	t := render.ListOf(f.in.Table, render.Spec{Name: "types", Title: "descriptors by what they lead to, each time that a call waits on them"},
		render.Text("type", func(l *line) string { return string(l.Key) }).Text("TYPE", -18),
		render.NonZero("watched", func(l *line) int64 { return l.Value.watched }).Text("WATCHED", 10),
		render.Num("ready", func(l *line) int64 { return l.Value.ready }).Text("READY", 10))
	for _, k := range f.types.Sorted(func(p *pollType) int64 { return -p.watched }, shape.Text.Compare) {
		t.Line(line{Key: k, Value: f.types.At(k)})
	}
}

package analyze

import (
	"fmt"

	"netrec/analyze/agg"
	"netrec/analyze/engine"
	"netrec/analyze/render"
	"netrec/analyze/scan"
)

var _ = register(engine.Analysis{
	Name:     "pollfds",
	Aliases:  []string{"pollfanout"},
	Group:    groupFull,
	Question: "how many descriptors do programs wait on, and how many of them are ready?",
	Help: `Calls of poll(2) and ppoll(2) by process and number of descriptors, rarest first, then
for each process what share of them was ready when the call returned with something, in
percent: a program that waits on hundreds of descriptors for one has its kernel look at
all of them each time.

--all counts select(2) and epoll_wait(2) and their kin as well: of select the descriptors
in its sets (those below 256), of epoll those that were put into the instance since the
recording began (one that gets the number of an instance that was closed has its
descriptors, too). The original sees poll(2) alone; --compat does so. Which descriptors
are sockets is known of those whose opening or use is in the recording.`,
	Example: "pollfds --all --by pid,comm,func,nfds",
	Options: []engine.Option{
		{Name: "all", Short: "a", Kind: engine.Flag, Doc: "select and epoll too"},
		engine.By("comm,nfds", "pid", "tid", "func", "second", "cgroup"),
		engine.Compat("poll(2) alone"),
	},
	New: newPollfds,
})

type pollfds struct {
	in          *engine.Input
	calls       *mapOf[engine.Key, int64]
	share       *mapOf[process, linear]
	keys        *engine.Keys
	epolls      agg.Epolls
	all, compat bool
	watched     int64 // by the row at hand

	others, fds, sockets, timeouts, polls             int64
	fn, nfds, set, epfd, pid, comm, ret, op, fd, data scan.Col
}

func newPollfds(in *engine.Input) engine.Fold {
	f := &pollfds{in: in, all: in.Flag("all"), compat: in.Flag("compat"), fn: in.Str("func"), nfds: in.Int("nfds"), set: in.Str("fds"), epfd: in.Int("epfd"),
		pid: in.Int("pid"), comm: in.Str("comm"), ret: in.Int("ret"), op: in.Str("epoll_op"), fd: in.Int("fd"), data: in.Int("epoll_data")}
	f.keys = in.Keys(map[string]engine.KeyDef{"nfds": {Columns: []render.Column{render.Col("nfds", render.Int)},
		Put: func(_ *engine.Row, v *engine.KeyValues) { v.Int(f.watched) }}})
	f.calls = countBy[engine.Key](in, "calls", f.keys.Columns...)
	f.calls.table.Unnamed = true
	f.share = percentOf[process](in, "ready_percent", processKeys...)
	in.Descriptors("")
	in.On("sys_poll", f.poll)
	if f.all {
		in.Context("sys_epoll_ctl", "how many descriptors an epoll instance has is not known", f.control)
	}
	if f.compat {
		return also(f.calls, f)
	}
	return also(f.calls, f.share, f)
}

func (f *pollfds) control(r *engine.Row) {
	if r.Int(f.ret) == 0 {
		f.epolls.Control(r.Str(f.op), r.Int(f.pid), r.Int(f.epfd), r.Int(f.fd), r.Uint(f.data), r.File)
	}
}

func (f *pollfds) poll(r *engine.Row) {
	pid := r.Int(f.pid)
	switch fn := r.Str(f.fn); {
	case fn == "poll", fn == "ppoll" && !f.compat:
		f.watched = r.Int(f.nfds)
	case !f.all:
		f.others++
		return
	case fn == "select" || fn == "pselect6":
		f.watched = 0
	default:
		f.watched = f.epolls.Size(pid, r.Int(f.epfd))
	}
	entries := f.look(r, pid)
	f.watched = max(f.watched, entries)
	f.calls.Add(f.keys.Of(r), 1)
	ret := r.Int(f.ret)
	if f.polls++; ret == 0 {
		f.timeouts++
	}
	if ret > 0 && f.watched > 0 {
		f.share.Add(process{r.Str(f.comm), pid}, min(100*ret/f.watched, 100))
	}
}

// look counts the descriptors of a call's list, and the sockets among them.
func (f *pollfds) look(r *engine.Row, pid int64) int64 {
	n := int64(0)
	for list := r.Str(f.set); ; {
		e, rest, ok := agg.NextPoll(list)
		if !ok {
			return n
		}
		list = rest
		if e.More > 0 {
			n += e.More
			continue
		}
		n++
		if f.fds++; f.in.FD(pid, e.FD) != nil {
			f.sockets++
		}
	}
}

// Finish says what the descriptors were.
func (f *pollfds) Finish(a *render.Answer) {
	if f.timeouts > 0 {
		a.Note(fmt.Sprintf("%s of %s timed out with nothing ready", engine.Group(f.timeouts), plural(f.polls, "call", "calls")))
	}
	if f.fds > 0 {
		a.Note(fmt.Sprintf("descriptors looked at: %s, of which %s are known to be sockets", engine.Group(f.fds), engine.Group(f.sockets)))
	}
	if f.others > 0 {
		a.Note(fmt.Sprintf("%s of other kinds left out; --all counts them", plural(f.others, "call", "calls")))
	}
}

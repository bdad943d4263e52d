package analyze

import (
	"netrec/analyze/agg"
	"netrec/analyze/engine"
	"netrec/analyze/scan"
)

// connWait is a connect that a program waits for.
type connWait struct {
	start    int64 // of the call, 0 if there is none
	key      engine.Key
	pid      int64
	original int64  // when the original's rule ended it, 0 while it did not
	addr     uint64 // of the socket
}

// connWaits finds when programs learn that a non-blocking connect is over: at the first
// poll, select or epoll_wait of any thread whose result has the descriptor, or at a
// further connect that says so.
type connWaits struct {
	in     *engine.Input
	files  agg.PerFile[connWait]
	byPid  map[int64]int // how many wait, so that the polls of others cost nothing
	epolls agg.Epolls
	done   func(w *connWait, ts, ret int64)
	gaps   *agg.Gaps
	lost   int64 // connects whose end may be among lost rows
	cut    int64 // polls whose list of descriptors was cut while a connect waited

	Epfd, Fd, EpollData, Pid, Ret scan.Int
	Ready, EpollOp                scan.Str
}

func newConnWaits(in *engine.Input, done func(w *connWait, ts, ret int64)) *connWaits {
	f := &connWaits{in: in, byPid: map[int64]int{}, done: done, gaps: in.Gaps("sys_poll", "sys_connect", "sys_epoll_ctl")}
	in.Bind(f)
	in.OnFileEnd(func(file *agg.File, _ agg.FileEnd, _ int64) {
		if w := f.files.Of(file); w.start != 0 {
			f.forget(w)
		}
	})
	return f
}

func (f *connWaits) begin(file *agg.File, w connWait) *connWait {
	p := f.files.Of(file)
	if p.start != 0 {
		f.forget(p)
	}
	*p = w
	f.byPid[w.pid]++
	return p
}

func (f *connWaits) forget(w *connWait) {
	if f.byPid[w.pid]--; f.byPid[w.pid] <= 0 {
		delete(f.byPid, w.pid)
	}
	w.start = 0
}

func (f *connWaits) end(file *agg.File, ts, ret int64) {
	if w := f.files.Of(file); w.start != 0 {
		if f.gaps.Between(w.start, ts) {
			f.lost++
		} else {
			f.done(w, ts, ret)
		}
		f.forget(w)
	}
}

// control learns what the data of epoll stands for.
func (f *connWaits) control(r *engine.Row) {
	if r.Int(f.Ret) == 0 {
		f.epolls.Control(r.Str(f.EpollOp), r.Int(f.Pid), r.Int(f.Epfd), r.Int(f.Fd), r.Uint(f.EpollData), r.File)
	}
}

// poll ends the connects whose descriptor is in the result.
func (f *connWaits) poll(r *engine.Row) {
	pid := r.Int(f.Pid)
	if r.Int(f.Ret) <= 0 || len(f.byPid) == 0 {
		return
	}
	for list := r.Str(f.Ready); ; {
		e, rest, ok := agg.NextPoll(list)
		if !ok {
			return
		}
		list = rest
		var file *agg.File
		switch {
		case e.More > 0:
			if f.byPid[pid] > 0 {
				f.cut++
			}
		case e.Epoll:
			file = f.epolled(pid, r.Int(f.Epfd), e.Data)
		default:
			file = f.in.FD(pid, e.FD)
		}
		if file != nil {
			f.end(file, r.TS, 0)
		}
	}
}

// epolled is the file that epoll's data stands for: as put into the instance by the
// process or one it was forked from. Data of descriptors that were put in before the
// recording is most often the number itself.
func (f *connWaits) epolled(pid, epfd int64, data uint64) *agg.File {
	for p, n := pid, 0; p != 0 && n < 8; p, n = f.in.Parent(p), n+1 {
		if file := f.epolls.File(p, epfd, data); file != nil {
			return file
		}
		if f.epolls.Seen(p, epfd) {
			return nil
		}
	}
	return f.in.FD(pid, int64(int32(data)))
}

package analyze

import (
	"netrec/analyze/agg"
	"netrec/analyze/calls"
	"netrec/analyze/engine"
)

// threadConnect is a connect as the original keeps it, by thread.
type threadConnect struct {
	file   *agg.File
	serial int64
	start  int64
	key    engine.Key
}

// threadConnects are those that wait, by thread. A new one replaces the one before.
type threadConnects map[int64]threadConnect

// maxThreadConnects bounds them.
const maxThreadConnects = 1 << 20

func (t threadConnects) begin(tid int64, c threadConnect) {
	if len(t) >= maxThreadConnects {
		clear(t)
	}
	t[tid] = c
}

// again takes a further connect of a socket that waits: it may tell the outcome.
func (f *soconnlat) again(r *engine.Row, ret int64) {
	switch ret {
	case -calls.EALREADY, -calls.EINPROGRESS:
		return
	case -calls.EISCONN:
		ret = 0
	}
	f.waits.end(r.File, r.TS, ret)
}

// parts splits the time of a connect at the end of its handshake.
func (f *soconnlat) parts(key engine.Key, start, end int64, s *agg.Socket) {
	if s == nil {
		return
	}
	if a := f.tries.Socks.Of(s); a.Began >= start && a.Ended != 0 && a.Result == calls.Connected {
		f.shake.Add(key, (a.Ended-a.Began)/1000)
		f.wakes.Add(key, max(end-a.Ended, 0)/1000)
	}
}

// shook takes the end of a handshake; without polls it is the end that is known.
func (f *soconnlat) shook(s *agg.Socket, a calls.Attempt) {
	if w := f.doors.Of(s); w.start != 0 && a.Ended != 0 {
		f.byDoor(s, w, &a)
	}
	if file := f.in.FileOf(s.Addr); file != nil && !f.polls && a.Ended != 0 {
		f.waits.end(file, a.Ended, 0)
	}
}

// handshake takes a connect that io_uring or a 32-bit program made and that goes on: nothing
// is asked about it, and its end is that of its handshake.
func (f *soconnlat) handshake(r *engine.Row, key engine.Key, start int64) {
	a, w := f.tries.Socks.Of(r.Sock), f.doors.Of(r.Sock)
	if *w = (connWait{start: start, key: key}); !r.Has(f.DurNs) && a.Began != 0 {
		w.start = a.Began
	}
	if a.Ended >= w.start && a.Ended != 0 {
		f.byDoor(r.Sock, w, a)
		return
	}
	a.At = r.TS
}

func (f *soconnlat) byDoor(s *agg.Socket, w *connWait, a *calls.Attempt) {
	ret := int64(0)
	if a.Result != calls.Connected {
		ret = -1
	}
	f.count(w.key, a.Ended-w.start, ret)
	f.parts(w.key, w.start, a.Ended, s)
	w.start = 0
}

// done takes a non-blocking connect whose end the program has learnt.
func (f *soconnlat) done(w *connWait, ts, ret int64) {
	switch {
	case w.original == 0:
		f.late++
	case w.original != ts:
		f.early++
	}
	s := f.in.SocketAt(w.addr)
	if s != nil {
		if a := f.tries.Socks.Of(s); a.Ended != 0 && a.Result != calls.Connected {
			ret = -1
		}
		f.parts(w.key, w.start, ts, s)
	}
	if !f.compat {
		f.count(w.key, ts-w.start, ret)
	}
	f.given++
}

// poll applies both rules, the original's first: it may end at the same call.
func (f *soconnlat) poll(r *engine.Row) {
	if fn := r.Str(f.Func); r.Int(f.Ret) > 0 && fn != "ppoll" {
		f.original(r.Int(f.Tid), r.TS)
	}
	f.waits.poll(r)
}

// original ends the connect of a thread as the original does.
func (f *soconnlat) original(tid, ts int64) {
	t, ok := f.threads[tid]
	if !ok {
		return
	}
	delete(f.threads, tid)
	if f.compat {
		f.us.Add(t.key, (ts-t.start)/1000)
	}
	if t.file.Serial == t.serial {
		if w := f.waits.files.Of(t.file); w.start == t.start {
			w.original = ts
		}
	}
}

func (f *soconnlat) control(r *engine.Row) {
	f.epolled = true
	if !f.waits.epolls.Seen(r.Int(f.Pid), r.Int(f.Epfd)) {
		f.original(r.Int(f.Tid), r.TS-r.Int(f.DurNs))
	}
	f.waits.control(r)
}

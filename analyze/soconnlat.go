package analyze

import (
	"fmt"

	"netrec/analyze/agg"
	"netrec/analyze/calls"
	"netrec/analyze/engine"
	"netrec/analyze/render"
	"netrec/analyze/scan"
	"netrec/analyze/shape"
)

var _ = register(engine.Analysis{
	Name:     "soconnlat",
	Group:    groupSlow,
	Question: "how long do IP connects take, by the code that issued them?",
	Main:     []string{"us"},
	Help: `Microseconds from the start of connect(2) on an IP socket until the program knows the
result, by user stack and process. A blocking call ends when it returns. A non-blocking
one ends when the first poll(2), select(2), epoll_wait(2) or relative, on any thread,
returns this descriptor. Failed connects are in @failed_us. --split adds @handshake_us,
the kernel's part, and @wakeup_us, the time from then until the program knew.

The original ends a non-blocking connect at the first poll of the same thread that returns
anything, does not know ppoll, and mistakes epoll_create for a poll. --compat does the same
(the first epoll_ctl of an instance stands for its epoll_create). A note always says how
many connects this ends wrongly. A connect by io_uring ends with its handshake.

Frames of stripped programs show file, build id and address, as in app(1a2b3c4d)+0x1139;
--symbols DIR names them from debug files in DIR, including inlined functions.`,
	Example: "soconnlat --split --by comm,host",
	Options: []engine.Option{
		{Name: "split", Kind: engine.Flag, Doc: "also handshake and wake-up separately"},
		engine.By("ustack,comm", append([]string{"second"}, engine.SocketKeys...)...),
		engine.Compat("the first poll of the thread that returns anything ends a connect"),
	},
	New: newSoconnlat,
})

type soconnlat struct {
	in                       *engine.Input
	us, failed, shake, wakes *shape.Map[engine.Key, agg.Log2]
	keys                     *engine.Keys
	waits                    *connWaits
	tries                    *calls.Attempts
	threads                  threadConnects
	doors                    agg.PerSocket[connWait] // connects that are no system calls
	compat, polls, epolled   bool

	connects, waited, early, late, given, older int64

	Tid, Ret, DurNs, Epfd, Pid scan.Int
	Func, Family, Door         scan.Str
}

func newSoconnlat(in *engine.Input) engine.Fold {
	f := &soconnlat{in: in, compat: in.Flag("compat"), polls: in.Recorded("sys_poll"), threads: threadConnects{}, keys: in.Keys(nil)}
	in.Bind(f)
	hist := func(name string) *shape.Map[engine.Key, agg.Log2] {
		return shape.Hist(in, name, "us", f.keys.Fields...)
	}
	f.failed, f.shake, f.us, f.wakes = hist("failed_us"), hist("handshake_us"), hist("us"), hist("wakeup_us")
	in.Descriptors("")
	f.waits = newConnWaits(in, f.done)
	f.tries = calls.NewAttempts(in, f.shook)
	in.On("sys_connect", f.connect)
	in.Context("sys_poll", "a non-blocking connect ends with its handshake, not when the program learns of it", f.poll)
	in.Context("sys_epoll_ctl", "what epoll returns is taken for the number of the descriptor", f.control)
	in.OnLoss([]string{"sys_poll", "sys_connect", "sys_epoll_ctl"}, func() { clear(f.threads) })
	if !in.Flag("split") {
		return shape.Also(f.failed, f.us, f)
	}
	return shape.Also(f.failed, f.shake, f.us, f.wakes, f)
}

func (f *soconnlat) connect(r *engine.Row) {
	other := r.Str(f.Door) == "io_uring" || r.Str(f.Door) == "compat"
	if family := r.Str(f.Family); r.File == nil && (!other || r.Sock == nil) || family != "inet" && family != "inet6" {
		return
	}
	ret, start := r.Int(f.Ret), r.TS-r.Int(f.DurNs)
	if !r.Has(f.DurNs) && r.Str(f.Door) == "syscall" {
		f.older++ // it began before the recording did
		return
	}
	if r.File != nil && f.waits.files.Of(r.File).start != 0 {
		f.again(r, ret)
		return
	}
	if !f.compat && (ret == -calls.EISCONN || ret == -calls.EALREADY) {
		return // no connect of its own, but asking after one that is counted
	}
	key := f.keys.Of(r)
	f.connects++
	if ret != -calls.EINPROGRESS {
		f.count(key, r.TS-start, ret)
		f.parts(key, start, r.TS, r.Sock)
		return
	}
	if other {
		f.handshake(r, key, start)
		return
	}
	f.waited++
	f.waits.begin(r.File, connWait{start: start, key: key, pid: r.Int(f.Pid), addr: r.Sock.Addr})
	f.threads.begin(r.Int(f.Tid), threadConnect{r.File, r.File.Serial, start, key})
	if a := f.tries.Socks.Of(r.Sock); !f.polls && a.Ended != 0 {
		f.waits.end(r.File, max(a.Ended, r.TS), 0)
	} else {
		a.At = r.TS
	}
}

// count enters a connect by the rule asked for; the original does not tell failures apart.
func (f *soconnlat) count(key engine.Key, ns, ret int64) {
	if ret < 0 && !f.compat {
		f.failed.Add(key, ns/1000)
	} else {
		f.us.Add(key, ns/1000)
	}
}

// Finish says how far the original is off.
func (f *soconnlat) Finish(a *render.Answer) {
	if f.older > 0 {
		a.Note(fmt.Sprintf("%s not counted: began before the recording", engine.Plural(f.older, "connect", "connects")))
	}
	if f.waited == 0 || !f.polls {
		return
	}
	least := ""
	if f.epolled && f.early+f.late < f.waited {
		least = "at least " // of an instance that got the number of one before, epoll_create is not seen
	}
	a.Note(fmt.Sprintf("non-blocking connects: %s; for %s the program's wake-up was recorded; the original (--compat) ends %s%s wrongly: %s at an unrelated poll or epoll_create, %s later or never",
		engine.Thousands(f.waited), engine.Thousands(f.given), least, engine.Thousands(f.early+f.late), engine.Thousands(f.early), engine.Thousands(f.late)))
	calls.NoteLostEnds(a, f.waits.lost, "end")
	if n := f.waited - f.given - f.waits.lost; n > 0 {
		why := "the program never asked for the result"
		if f.waits.cut > 0 {
			why += ", or its end is in a list that was too long for a row"
		}
		a.Note(fmt.Sprintf("%s not counted: %s", engine.Plural(n, "connect", "connects"), why))
	}
	if f.waits.cut > 0 {
		a.Note(fmt.Sprintf("%s returned more descriptors than a row can hold during a connect: its end may be earlier than shown", engine.Plural(f.waits.cut, "poll", "polls")))
	}
}

package record

import (
	"cmp"
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"netrec/record/hook"
	"netrec/record/priv"
	"netrec/schema"
)

// session is one recording, from the first privilege to the last byte: what its parts do together.
type session struct {
	opt Options
	preparation
	loop
	outputs
	facts
}

// Run makes one recording. The summary is valid also beside an error that came after
// the recording had begun.
func Run(ctx context.Context, o Options) (*Summary, error) {
	o.Events = withAsked(o.Events, &o)
	s := &session{opt: o, preparation: preparation{begun: time.Now(), cpus: hook.PossibleCPUs()},
		loop: loop{stop: make(chan string, 4), late: make(chan schema.Library, hook.MaxLibraries), signals: make(chan os.Signal, 2)}}
	s.asked = &s.opt
	if err := priv.Need(); err != nil {
		return nil, err
	}
	// From here on a signal ends the recording in order, also while it is being set up.
	signal.Notify(s.signals, endings()...)
	defer signal.Stop(s.signals)
	if err := s.setUp(ctx); err != nil {
		return nil, err
	}
	if err := notify(s.opt.Manager, "READY=1"); err != nil {
		s.notice(AboutManager, "%v", err)
	}
	s.tell()
	done := make(chan struct{})
	defer close(done)
	go s.watchDisk(done)
	go lean() // events do not wait for that
	return s.finishOrGiveUp(s.run(ctx))
}

// endings are the signals that end a recording. A terminal that goes away does, unless
// nohup(1) has asked for the contrary.
func endings() []os.Signal {
	list := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		list = append(list, syscall.SIGHUP)
	}
	return list
}

// startWriting lets rows go from the rings into the file.
func (s *session) startWriting() {
	s.writer = startWriter(s.file, s.acct, s.names, newEncoder(s.names, s.start.Wall-s.start.Mono), s.cpus, s.opt.Within)
	s.drain.pile = <-s.writer.free
	s.drain.fix, s.drain.fixed = s.fixer()
	s.committed = s.opened
}

// begin writes down what is known at the start, and releases the command.
func (s *session) begin() error {
	s.startBudget()
	s.noteCost(s.first)
	if err := s.metaRows(); err != nil {
		return err
	}
	s.warn()
	s.hooks.Follow(func(lib schema.Library) {
		lib.SinceNS = s.met()
		s.late <- lib
	})
	if s.child != nil {
		if err := s.child.Release(); err != nil {
			return err
		}
		go func() {
			s.exit, _ = s.child.Wait()
			s.stop <- "command"
		}()
	}
	return nil
}

func createdBy(version string) string { return "netrec version " + version }

// run drains and commits until something ends the recording.
func (s *session) run(ctx context.Context) error {
	var timer <-chan time.Time
	if s.opt.For > 0 {
		timer = time.After(s.opt.For - time.Since(s.opened))
	}
	cost := time.Now()
	s.turning.began, s.turning.ready = s.opened, make(chan *preparedFile, 1)
	for s.end == "" {
		now, err := s.takeRows(tick)
		if err != nil {
			return err
		}
		if err := s.govern(now); err != nil {
			return err
		}
		if now.Sub(cost) >= time.Second {
			if err := errors.Join(s.newLibraries(), s.newcomers(), s.newModules()); err != nil {
				return err
			}
			s.noNames()
			s.writer.pool.trim(now)
			s.spare.look()
			s.cost()
			s.tell()
			s.counts.flush(s.drain.pile, s.acct, mono(), s.header)
			cost = now
		}
		if err := s.commitDue(now); err != nil {
			return err
		}
		if err := s.rotate(now); err != nil {
			return err
		}
		s.end = s.ended(ctx, timer)
	}
	return nil
}

// takeRows waits for rows, up to a time, takes them from the rings, and looks after the account.
func (s *session) takeRows(most time.Duration) (now time.Time, err error) {
	// Not less than a moment: the writer may be too busy for a commit that is due. Not more than that where it was
	// too busy for a full pile: rings that are full wake nobody.
	if s.drain.full {
		most = moment
	}
	if err := s.drain.wait(min(most, max(moment, s.commitEvery()-time.Since(s.committed)))); err != nil {
		return now, err
	}
	now = time.Now()
	s.drain.all()
	if mono()-s.acct.seenAt >= int64(tick) {
		err = s.acct.look(s.drain.pile, mono(), s.header, false)
	}
	return now, err
}

// commitDue gives the pile to the writer when it is time to.
func (s *session) commitDue(now time.Time) error {
	if now.Sub(s.committed) < s.commitEvery() && s.drain.pile.bytes <= handOverBytes && !s.drain.full {
		return nil
	}
	handed, err := s.handOver(now)
	if handed {
		s.committed = now
	}
	return err
}

// commitEvery is the time between commits. A file that runs all day should not grow by
// days on which nothing happens.
func (l *loop) commitEvery() time.Duration {
	if l.drain.pile.idle() {
		return idleEvery
	}
	return l.writer.pace.every()
}

// hurried is the time in which a pile fills where rows come faster than is comfortable, some 250,000 a
// second: to write so many shorter takes three hundredths of a CPU.
const hurried = 150 * time.Millisecond

// handOver gives the pile to the writer, if that has room for it.
func (s *session) handOver(now time.Time) (handed bool, err error) {
	p := s.drain.pile
	if p.due.IsZero() {
		p.due = now
	}
	late := s.drain.full || now.After(p.due)
	p.hurry = late || s.spare.short || p.bytes > handOverBytes && now.Sub(s.committed) < hurried
	turns := p.then != nil
	s.drain.pile = s.writer.offer(p)
	s.warnLost()
	if handed = s.drain.pile != p; handed && turns { // the facts are rows of every file
		err = s.metaRows()
	}
	if handed && s.counts.owes() {
		s.counts.flush(s.drain.pile, s.acct, mono(), s.header)
	}
	return handed, err
}

// ended says what ends the recording, "" if nothing does yet.
func (s *session) ended(ctx context.Context, timer <-chan time.Time) string {
	select {
	case <-timer:
		return "timer"
	case <-s.signals:
		return "signal"
	case why := <-s.stop:
		return why
	case <-ctx.Done():
		return "signal"
	default:
	}
	if s.quit.Load() {
		return "signal"
	}
	if s.opt.Count > 0 && s.drain.total >= s.opt.Count {
		return "count"
	}
	return ""
}

// mono is the clock of the events.
func mono() int64 {
	var ts unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts) != nil {
		return 0
	}
	return ts.Nano()
}

// header starts a row of the recorder's own. Those that tell how the recording ended are of
// its last moment, not of the seconds that detaching took.
func (s *session) header(event uint16) schema.Header {
	h := schema.Header{TS: uint64(cmp.Or(s.stopped, mono())), Event: event, Pid: int32(os.Getpid()), Tid: int32(os.Getpid())}
	if list := s.filters.Netns; len(list) > 0 {
		h.Netns = list[0]
	}
	copy(h.Comm[:], "netrec")
	return h
}

// maxRings is how many rings for hot events there are at most.
const maxRings = 64

// rings is one per CPU, as a power of two.
func rings(cpus int) int {
	n := 1
	for n < cpus && n < maxRings {
		n *= 2
	}
	return n
}

const defaultBuffer = 32 << 20

// ringSizes splits the memory: an eighth for rare events, the rest for the hot
// ones; the kernel wants powers of two of at least a page.
func ringSizes(buffer int64, cpus int) (hot, rare int64) {
	if buffer == 0 {
		buffer = max(defaultBuffer, int64(cpus)<<20)
	}
	floor := func(n int64) int64 {
		p := int64(os.Getpagesize())
		for p*2 <= n {
			p *= 2
		}
		return p
	}
	return floor(buffer * 7 / 8 / int64(rings(cpus))), floor(buffer / 8)
}

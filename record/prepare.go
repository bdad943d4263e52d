package record

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime/debug"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"netrec/record/fence"
	"netrec/record/filter"
	"netrec/record/hook"
	"netrec/record/host"
	"netrec/record/priv"
	"netrec/record/reader"
	"netrec/record/symbol"
	"netrec/schema"
)

// prepare does everything that needs privileges, and ends with giving them up.
func (s *session) prepare(ctx context.Context) error {
	rt, err := priv.Share()
	if err != nil {
		return err
	}
	if rt {
		s.notice(AboutHost, "started with a real-time policy, recording at the ordinary one: attaching would wait for ever for tasks that it keeps from running")
	}
	if s.filters, err = filter.Resolve(s.opt.Filters); err != nil {
		return err
	}
	if err := s.startReader(); err != nil {
		return err
	}
	if err := s.open(); err != nil {
		return err
	}
	s.made.Store(s.file)
	if os.Getenv("SUDO_UID") != "" && s.opt.Place == nil { // the file is for the user behind sudo
		id := priv.Target()
		if err := s.file.Chown(id.UID, id.GID); err != nil {
			return fmt.Errorf("hand the file to user %d: %w", id.UID, err)
		}
	}
	if s.symbols, err = symbol.LoadKernel(); errors.Is(err, symbol.ErrHidden) {
		s.notice(AboutNames, "%v; kernel addresses stay numbers, probes by symbol are left out", err)
	} else if err != nil {
		return err
	}
	s.names = newResolver(symbol.New(s.symbols, s.namer()))
	if len(s.opt.Command) > 0 {
		if s.child, err = priv.Start(s.opt.Command); err != nil {
			return err
		}
	}
	if err := s.attach(); err != nil {
		return err
	}
	// What takes time comes before the first event: until the rings are read they only fill.
	if s.records(schema.AsKstack) {
		if err := s.symbols.ReadBPF(); err != nil {
			return err
		}
	}
	debug.SetGCPercent(leanGC)
	debug.FreeOSMemory() // of the kernel's types; those who wait for the start should not meet them
	if err := priv.Prefer(); err != nil {
		return err
	}
	if err := s.openGate(ctx); err != nil {
		return err
	}
	// Nearly from the first event on there is a whole file, also for stock readers.
	if err := errors.Join(s.describe(), s.file.Commit()); err != nil {
		return err
	}
	s.startWriting()
	ended := s.drainAside()
	if err := errors.Join(s.becomeNobody(ctx), ended()); err != nil {
		return err
	}
	return s.begin()
}

// becomeNobody does the last things that need privileges and gives them up, while rows are already
// taken from the rings: on a large or busy host this takes longer than rings can wait.
func (s *session) becomeNobody(ctx context.Context) error {
	if err := s.ownSockets(ctx); err != nil {
		return err
	}
	if s.opt.Place != nil {
		if err := errors.Join(s.publish(), s.prune()); err != nil {
			return err
		}
	}
	if s.opt.Ready != "" {
		if err := touch(s.opt.Ready); err != nil {
			return fmt.Errorf("tell that recording has begun: %w", err)
		}
	}
	if err := errors.Join(priv.Drop(), fence.Deny()); err != nil {
		return err
	}
	s.rooted = time.Since(s.begun)
	return nil
}

// ownSockets asks who owns the sockets of the start, for as long as there is time, and lets the
// writer put it into the file.
func (s *session) ownSockets(ctx context.Context) error {
	ctx, cancel := context.WithDeadline(ctx, s.begun.Add(s.limit()*5/4)) // a little also where attaching took all
	defer cancel()
	if err := s.report.Own(ctx); err != nil {
		return err
	}
	s.meta.Warnings = s.warnings(0)
	s.writer.facts.Store(&map[string]any{schema.KeySockets: s.report.Sockets, schema.KeyRecording: s.meta})
	return nil
}

// touch makes a file, as root still: never through a link that somebody else may have laid,
// and without waiting for the reader of a pipe.
func touch(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0o644)
	if err != nil {
		return err
	}
	defer f.Close()
	st, err := f.Stat()
	if errors.Is(err, os.ErrNotExist) {
		return nil // 9p says so of an open file that whoever waited for it has removed already
	}
	if err != nil || !st.Mode().IsRegular() {
		return errors.Join(err, fmt.Errorf("%s is not a regular file", path))
	}
	return nil
}

// records reports whether an event that has a hook has a field of a kind.
func (l *loop) records(as schema.As) bool {
	return slices.ContainsFunc(l.hooks.Plans, func(p hook.Plan) bool {
		return len(p.Hooks) > 0 && has(p.Event, as)
	})
}

func has(e *schema.Event, as schema.As) bool {
	return slices.ContainsFunc(e.Fields(), func(f schema.Field) bool { return f.As == as })
}

// startReader starts the process that reads files of others, beside the rest of the start. It
// keeps the privileges to do so for as long as user stacks are recorded, which are named
// while the recording runs, from the memory maps and files of other users' processes.
func (s *session) startReader() (err error) {
	stacks := slices.ContainsFunc(s.opt.Events, func(e *schema.Event) bool { return has(e, schema.AsUstack) })
	if !stacks && !slices.ContainsFunc(s.opt.Events, (*schema.Event).Libraries) {
		return nil
	}
	if s.reader, err = reader.Start(); err == nil && stacks {
		s.userNames = s.reader.Names()
	}
	return err
}

// namer names user stacks, if there are any.
func (p *preparation) namer() symbol.Namer {
	if p.userNames == nil {
		return nil
	}
	return p.userNames
}

func (s *session) attach() error {
	hot, rare := ringSizes(s.opt.Buffer, s.cpus)
	conf := hook.Config{Events: s.opt.Events, Detail: s.opt.Profile == schema.Full, Force: s.opt.Mechanism, Symbols: s.symbols,
		Ref: s.names.ref, CPUs: s.cpus, Rings: rings(s.cpus), RingBytes: hot, RareBytes: rare,
		Libraries: s.opt.Libraries, Reader: s.reader, Self: uint32(os.Getpid()), ReaderPid: s.reader.Pid(), KeeperPid: s.keeper(), Filters: s.filters.Constants(),
		AllStacks: s.opt.AllStacks, CountFuncs: s.opt.CountFuncs, CountTPs: s.opt.CountTPs, Share: s.opt.Share, Budget: s.opt.Budget > 0, Clock: mono, Enough: s.enough}
	var err error
	s.watchModules()
	began := mono()
	if s.hooks, err = hook.Load(conf); err != nil {
		return err
	}
	s.attaching = time.Duration(mono() - began)
	s.missing = unseen(s.hooks.Plans)
	if err := s.attachedSome(); err != nil {
		return err
	}
	if s.opt.Follow {
		if err := s.hooks.StartHelper(); err != nil {
			return err
		}
	}
	if !s.hooks.Following() && !s.records(schema.AsUstack) {
		s.reader.Stop()
	}
	s.hooks.Forget()
	s.names.setEnums(s.hooks.Enums)
	c, err := mapCounters(s.hooks.Counters.FD(), s.cpus)
	if err != nil {
		return err
	}
	s.acct = newAccount(c, s.opt.Events)
	s.acct.missed = s.hooks.Missed
	if s.counts, err = newCounting(s.hooks, s.names.ref, s.cpus); err != nil {
		return err
	}
	s.drain, err = newDrain(s.hooks.Rings, s.hooks.WakeBytes(), s.cpus)
	return err
}

// unseen names the events without a hook, but for those of a module that this host does not
// have loaded: without a radio nobody misses Wi-Fi.
func unseen(plans []hook.Plan) []string {
	var names []string
	for _, p := range plans {
		if len(p.Hooks) > 0 {
			continue
		}
		if m := p.Event.Module(); m != "" {
			if _, err := os.Stat("/sys/module/" + m); errors.Is(err, fs.ErrNotExist) {
				continue
			}
		}
		names = append(names, p.Event.Name)
	}
	return names
}

// openGate begins the recording, at one moment for all hooks. What must be known of its
// start is read right before it; who owns the sockets takes long on a large host and is
// read right after, when rows tell what changes meanwhile.
func (s *session) openGate(ctx context.Context) error {
	var err error
	if s.report, err = host.Facts(ctx, s.filters.Netns); err != nil {
		return err
	}
	s.counter.Start, _ = s.report.Counters.Read()
	s.counter.Netns, s.counter.Left = s.report.Counters.Of()
	s.acct.forgive()
	s.start = host.Anchor("start")
	s.opened = time.Now()
	s.first = s.used()
	s.first.File = s.file.Taken()
	now := mono()
	s.first.TS = uint64(now)
	if err := s.hooks.Start(); err != nil {
		return err
	}
	s.acct.begin(now)
	s.counts.begin(now)
	s.meta.StartNS = s.wall(now)
	return nil
}

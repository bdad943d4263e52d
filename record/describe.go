package record

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"netrec/record/capture"
	"netrec/schema"
)

// describe sets the metadata that is known at the start.
func (s *session) describe() error {
	now := s.meta.StartNS
	s.lacks = lacking()
	s.meta = schema.Recording{Command: s.opt.Args, Profile: string(s.opt.Profile), Filters: s.filters.Text, StackShare: !s.opt.AllStacks, Sample: s.filters.Sample,
		StartNS: now, AttachNS: int64(s.attaching), Warnings: s.warnings(0), Libraries: s.hooks.Libraries,
		Part: &schema.Part{ID: rand.Text(), Index: 1, BeganNS: now}}
	for _, r := range s.hooks.Rings {
		s.meta.Buffer += int64(r.MaxEntries())
	}
	for _, e := range s.opt.Events {
		s.meta.Events = append(s.meta.Events, e.Name)
	}
	s.constant = map[string]any{
		schema.KeyFormat: schema.FormatVersion, schema.KeyVersion: s.opt.Version, schema.KeyHost: s.report.Host,
		schema.KeyClock: []schema.Anchor{s.start}, schema.KeyHooks: s.hooks.States(s.wall),
		schema.KeySysctls: s.report.Sysctls, schema.KeyInterfaces: s.report.Interfaces, schema.KeyQdiscs: s.report.Qdiscs,
		schema.KeyEnums: s.hooks.Enums,
	}
	return s.describeFile(s.file, s.meta, nil, s.counter) // the sockets come with their owners
}

// describeFile sets the metadata with which a file begins. It is also called beside the
// drain loop, and reads nothing of the session that changes.
func (f *facts) describeFile(w *capture.Writer, rec schema.Recording, sockets []schema.Socket, counters schema.Counters) error {
	errs := []error{w.Set(schema.KeyRecording, rec), w.Set(schema.KeySockets, sockets),
		w.Set(schema.KeyCounters, counters)}
	for key, v := range f.constant {
		errs = append(errs, w.Set(key, v))
	}
	return errors.Join(errs...)
}

// wall is the Unix time of a moment of the monotonic clock.
func (f *facts) wall(mono int64) int64 { return mono + f.start.Wall - f.start.Mono }

// metaRow puts a fact into a row.
func (s *session) metaRow(key string, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("row %s: %w", key, err)
	}
	p := s.drain.pile
	row := schema.Meta{Header: s.header(metaEvent.ID), Key: s.names.ref(key), Value: s.names.lend(string(b))}
	p.lent = append(p.lent, row.Value)
	return p.own(metaEvent.ID, row)
}

// metaRows puts the facts that SQL users need into rows: one per key, one per socket.
func (s *session) metaRows() error {
	facts := []struct {
		key string
		v   any
	}{{schema.KeyHost, s.report.Host}, {schema.KeyClock, []schema.Anchor{s.start}}, {schema.KeyRecording, s.meta},
		{schema.KeySysctls, s.report.Sysctls}, {schema.KeyInterfaces, s.report.Interfaces}, {schema.KeyQdiscs, s.report.Qdiscs}}
	for _, h := range s.hooks.States(s.wall) {
		facts = append(facts, struct {
			key string
			v   any
		}{schema.KeyHooks, h})
	}
	for _, f := range facts {
		if err := s.metaRow(f.key, f.v); err != nil {
			return err
		}
	}
	for i := range s.report.Sockets {
		if err := s.metaRow(schema.KeySockets, &s.report.Sockets[i]); err != nil {
			return err
		}
	}
	return nil
}

// warn tells the user at once what the recording will not show.
func (s *session) warn() {
	if len(s.missing) > 0 {
		s.notice(AboutHooks, "not recorded, no hook attached: %s; netrec analyze says why", strings.Join(s.missing, ", "))
	}
	for _, lib := range s.hooks.Libraries {
		if text := lib.Blind(); text != "" {
			s.notice(AboutHooks, "no probe for %s", text)
		}
	}
	for _, w := range s.meta.Warnings {
		s.notice(AboutHost, "%s", w)
	}
}

// maxSeen bounds the stacks that are remembered to have been named early.
const maxSeen = 4096

// nameAgain is how long a stack is taken to have the names that it had.
const nameAgain = uint64(time.Second)

// fixer completes records in the drain loop with what cannot wait: user stacks are
// named while their process is likely still there.
func (s *session) fixer() (fix func([]byte), fixed []bool) {
	type stack struct {
		off, n int
		hot    bool
	}
	stacks, any := make([]stack, schema.MaxID), false
	fixed = make([]bool, schema.MaxID)
	for _, e := range s.opt.Events {
		for _, f := range e.Fields() {
			if f.As == schema.AsUstack {
				stacks[e.ID], any = stack{f.Offset, f.Size / 8, !e.Rare()}, true
				fixed[e.ID] = true
			}
		}
	}
	if !any {
		return nil, nil
	}
	pidOff, tsOff := int(unsafe.Offsetof(schema.Header{}.Pid)), int(unsafe.Offsetof(schema.Header{}.TS))
	early, seen := s.nameEarly(), map[uint64]uint64{}
	return func(rec []byte) {
		st := stacks[recordEvent(rec)]
		pid, ts := int32(binary.LittleEndian.Uint32(rec[pidOff:])), binary.LittleEndian.Uint64(rec[tsOff:])
		key := uint64(uint32(pid))
		if !st.hot { // of a hot event one stack of a process will do: by what is known then most others are named
			key = hashFrames(key, rec[st.off:st.off+8*st.n])
		}
		if last, ok := seen[key]; ok && ts-last < nameAgain {
			return
		}
		if len(seen) >= maxSeen {
			clear(seen)
		}
		seen[key] = ts
		frames := make([]uint64, 0, st.n)
		for i := range st.n {
			a := binary.LittleEndian.Uint64(rec[st.off+8*i:])
			if a == 0 {
				break
			}
			frames = append(frames, a)
		}
		select {
		case early <- userStack{pid, ts, frames}:
		default: // named when its row is written, if the process is still there
		}
	}, fixed
}

// hashFrames mixes the frames of a stack up to the first zero into key.
func hashFrames(key uint64, raw []byte) uint64 {
	for ; len(raw) >= 8; raw = raw[8:] {
		a := binary.LittleEndian.Uint64(raw)
		if a == 0 {
			break
		}
		key = (key ^ a) * 0x9e3779b97f4a7c15
		key ^= key >> 32
	}
	return key
}

// userStack is a stack to be named soon.
type userStack struct {
	pid    int32
	ts     uint64
	frames []uint64
}

// nameEarly names user stacks beside the drain loop, because reading a large program for
// the first time takes longer than a ring can wait; the names stay in a cache.
func (s *session) nameEarly() chan<- userStack {
	early := make(chan userStack, 256)
	go func() {
		for st := range early {
			s.names.Stack(true, st.pid, st.ts, st.frames)
		}
	}()
	return early
}

// used is what the recorder has used so far, its files aside.
func (s *session) used() schema.Cost {
	user, sys := cpuTime()
	return schema.Cost{Header: s.header(costEvent.ID), UserNS: user, SysNS: sys, RSS: rss()}
}

// cost adds a row with what the recorder has used.
func (s *session) cost() {
	s.last = s.used()
	s.last.File, s.last.Rows = s.writer.size.Load(), s.writer.rows.Load()
	s.noteCost(s.last)
}

func (s *session) noteCost(row schema.Cost) {
	_ = s.drain.pile.own(costEvent.ID, row) // a fixed-size struct always encodes
}

func cpuTime() (user, sys int64) {
	var ru unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &ru) != nil {
		return 0, 0
	}
	return ru.Utime.Nano(), ru.Stime.Nano()
}

// rss is the resident memory; /proc/self/statm counts pages.
func rss() int64 {
	b, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	f := strings.Fields(string(b))
	if len(f) < 2 {
		return 0
	}
	pages, _ := strconv.ParseInt(f[1], 10, 64)
	return pages * int64(os.Getpagesize())
}

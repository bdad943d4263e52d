package record

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"netrec/record/capture"
	"netrec/record/host"
	"netrec/schema"
)

// turn is the step from one file to the next.
type turn struct {
	file  *capture.Writer // the next one, which has its first commit
	last  map[string]any  // metadata with which the one before ends
	after func() error    // to be done once that is closed
}

// rotation is what the drain loop knows of the present file and the next.
type rotation struct {
	began time.Time
	retry time.Time          // not before that, after a file could not be made
	ready chan *preparedFile // of the file under way
	under bool
	turns int64 // files that the writer was told to go on in
	told  bool  // that one could not be made
}

// preparedFile is the next file and the facts of its start, made beside the drain loop.
type preparedFile struct {
	file     *capture.Writer
	path     string
	sockets  []schema.Socket
	counters schema.Counters
	warnings []string
	err      error
}

// retryAfter is how long to stay in a file after the next one could not be made.
const retryAfter = 10 * time.Second

// rotate begins the next file when the present one is full or its time is up, and goes
// on in it when it is ready.
func (s *session) rotate(now time.Time) error {
	t := &s.turning
	select {
	case c := <-t.ready:
		t.under = false
		return s.turnTo(c, now)
	default:
	}
	r := &s.opt.Rotate
	if t.turns != s.writer.turned.Load() {
		return nil // what the writer says is still of the file before
	}
	due := s.writer.full.Load() || r.Bytes > 0 && s.writer.now.Load() >= r.Bytes || r.Every > 0 && now.Sub(t.began) >= r.Every
	if due && !t.under && s.drain.pile.then == nil && now.After(t.retry) {
		t.under = true
		rec := s.meta
		rec.Libraries, rec.Late, rec.Modules = slices.Clone(rec.Libraries), slices.Clone(rec.Late), slices.Clone(rec.Modules)
		go func() { t.ready <- s.nextFile(rec, s.report.Sockets) }()
	}
	return nil
}

// nextFile makes the file that the recording shall go on in. Nothing that the drain loop
// changes is touched.
func (s *session) nextFile(rec schema.Recording, before []schema.Socket) *preparedFile {
	c := &preparedFile{}
	var old int
	c.sockets, old = s.report.Alive.Read(before, s.findOwners)
	c.counters.Start, _ = s.report.Counters.Read()
	c.counters.Netns, c.counters.Left = s.report.Counters.Of()
	rec.Part = nextPart(rec.Part)
	c.warnings = s.warnings(old)
	if c.file, c.path, c.err = s.create(); c.err != nil {
		c.err = fmt.Errorf("begin the next file: %w", c.err)
		return c
	}
	// Of several files the newest knows them all, whatever becomes of its first rows.
	if list := s.names.objects(0); list != nil {
		c.err = c.file.Set(schema.KeyObjects, list)
	}
	if c.err = errors.Join(c.err, s.describeFile(c.file, rec, c.sockets, c.counters), c.file.Commit()); c.err != nil {
		s.discard(c)
	}
	return c
}

// findOwners asks whoever may still look at the descriptors of others.
func (p *preparation) findOwners(inodes []uint32) map[uint32][]schema.Owner {
	if p.reader != nil {
		return p.reader.Owners(inodes)
	}
	found, _ := host.FindOwners(context.Background(), inodes) // what it could not find stays without an owner
	return found.Owners
}

// nextPart is the place of the file after one.
func nextPart(p *schema.Part) *schema.Part {
	next := *p
	next.Index++
	return &next
}

// warnings are those of a file, with how many sockets are listed as they were before.
func (s *session) warnings(old int) []string {
	ws := slices.Concat(s.lacks, s.report.Warnings, s.hooks.Warnings)
	if text := s.nameless(); text != "" {
		ws = append(ws, text)
	}
	if old > 0 {
		ws = append(ws, fmt.Sprintf("%d sockets of other network namespaces are listed as they were when the recording began", old))
	}
	return ws
}

// turnTo lets the present pile be the last of its file.
func (s *session) turnTo(c *preparedFile, now time.Time) error {
	if c.err == nil {
		if c.err = s.publish(); c.err != nil {
			s.discard(c)
		}
	}
	if c.err != nil {
		s.turning.retry = now.Add(retryAfter)
		if !s.turning.told {
			s.turning.told = true
			s.notice(AboutFile, "%v; recording continues in the current file", c.err)
		}
		return nil
	}
	at := s.wall(mono())
	end := s.meta
	end.StopNS, end.End = at, schema.EndNext
	end.Libraries, end.Late, end.Modules = slices.Clone(s.meta.Libraries), slices.Clone(s.meta.Late), slices.Clone(s.meta.Modules)
	s.counter.Stop = c.counters.Start
	last := map[string]any{schema.KeyRecording: end, schema.KeyClock: []schema.Anchor{s.start, host.Anchor("stop")},
		schema.KeyCounters: s.counter}
	s.meta.Part, s.meta.StartNS, s.meta.Warnings = nextPart(s.meta.Part), at, c.warnings
	s.turning.began, s.path = now, c.path
	s.turning.turns++
	s.counter = c.counters
	s.report.Sockets = c.sockets
	s.drain.pile.then = &turn{c.file, last, s.prune}
	return c.file.Set(schema.KeyRecording, s.meta)
}

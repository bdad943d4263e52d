package analyze

import (
	"cmp"
	"fmt"

	"netrec/analyze/engine"
	"netrec/analyze/render"
	"netrec/analyze/scan"
)

var _ = register(engine.Analysis{
	Name:     "socksize",
	Group:    groupSock,
	Question: "what sizes are socket reads and writes, per process?",
	Help: `Bytes that each send or receive call moved, as a histogram per process and
direction, or with --stats as count, average (truncated) and total. Calls that
returned an error are counted apart; reads of zero bytes (end of file) are in [0].

Reads with MSG_PEEK leave the data where it is and are not counted; --compat
counts them, as the original does.`,
	Example: "socksize --stats",
	Options: []engine.Option{
		{Name: "stats", Kind: engine.Flag, Doc: "count, average and total instead of histograms"},
		{Name: "by", Kind: engine.Choice, Default: "comm", Choices: []string{"comm", "pid", "port", "sock"},
			Doc: "a further key: process id, remote port or socket"},
		engine.Compat("count MSG_PEEK reads too"),
	},
	New: newSocksize,
})

// sizeKey is the process name and the further key of --by.
type sizeKey struct {
	comm string
	more int64
	has  bool
}

func (k sizeKey) put(t *render.Table) {
	if t.Str(k.comm); k.has {
		t.Int(k.more)
	}
}

func (k sizeKey) compare(o sizeKey) int {
	return cmp.Or(cmp.Compare(k.comm, o.comm), cmp.Compare(k.more, o.more))
}

type socksize struct {
	read, write interface{ Add(sizeKey, int64) }

	dir, ret, comm, flags, more    scan.Col
	by, compat                     bool
	errors, peeks, blind, received int64
}

func newSocksize(in *engine.Input) engine.Fold {
	s := &socksize{dir: in.Str("dir"), ret: in.Int("ret"), comm: in.Str("comm"), flags: in.Int("msg_flags"),
		compat: in.Flag("compat")}
	keys := []render.Column{render.Col("comm", render.String)}
	if name := map[string]string{"pid": "pid", "port": "rport", "sock": "sock"}[in.Text("by")]; name != "" {
		s.more, s.by = in.Int(name), true
		kind := render.Int
		if name == "sock" {
			kind = render.Addr
		}
		keys = append(keys, render.Col(name, kind))
	}
	in.On("sock_io", s.row)
	if in.Flag("stats") {
		read := statsOf[sizeKey](in, "read_bytes", "bytes", keys...)
		write := statsOf[sizeKey](in, "write_bytes", "bytes", keys...)
		s.read, s.write = read, write
		return also(read, write, s)
	}
	read := histOf[sizeKey](in, "read_bytes", "bytes", keys...)
	write := histOf[sizeKey](in, "write_bytes", "bytes", keys...)
	s.read, s.write = read, write
	return also(read, write, s)
}

func (s *socksize) row(r *engine.Row) {
	n := r.Int(s.ret)
	if n < 0 {
		s.errors++
		return
	}
	k := sizeKey{comm: r.Str(s.comm), has: s.by}
	if s.by {
		k.more = r.Int(s.more)
	}
	if r.Str(s.dir) == "send" {
		s.write.Add(k, n)
		return
	}
	s.received++
	switch {
	case !r.Has(s.flags):
		s.blind++
	case r.Int(s.flags)&msgPeek != 0:
		s.peeks++
		if !s.compat {
			return
		}
	}
	s.read.Add(k, n)
}

// msgPeek is MSG_PEEK.
const msgPeek = 2

// Finish says what is not in the maps.
func (s *socksize) Finish(a *render.Answer) {
	if s.errors > 0 {
		a.Note(plural(s.errors, "call", "calls") + " returned an error and are not counted")
	}
	switch {
	case s.peeks > 0 && s.compat:
		a.Note(fmt.Sprintf("original rule: %s with MSG_PEEK counted; the right rule leaves them out", plural(s.peeks, "read", "reads")))
	case s.peeks > 0:
		a.Note(fmt.Sprintf("%s with MSG_PEEK left out; the original counts them (--compat)", plural(s.peeks, "read", "reads")))
	}
	if s.blind > 0 && !s.compat {
		a.Note(fmt.Sprintf("flags of %s are not known (their hook does not see them): MSG_PEEK reads among them count", plural(s.blind, "read", "reads")))
	}
}

package analyze

import (
	"fmt"
	"slices"

	"netrec/analyze/agg"
	"netrec/analyze/engine"
	"netrec/analyze/render"
	"netrec/analyze/turns"
)

// turnLines is how many turns of a socket are listed.
const turnLines = 20

// sockWaits is where the time of a socket's lives went, with a line for each turn.
type sockWaits struct {
	in     *engine.Input
	wants  func(*agg.Socket) bool
	follow *turns.Follower
	lives  *render.List[turns.Followed]
	turns  *render.List[sockTurn]
}

// sockTurn is a turn of a life of a socket.
type sockTurn struct {
	*turns.Turn
	gen   int
	since int64 // start of the recording
}

// note says why the length of a turn is not that of others.
func (t *sockTurn) note() string {
	switch {
	case t.Overlap:
		return "overlap"
	case t.Unfinished:
		return "unfinished"
	}
	return ""
}

func inMs[T any](name, head string, ns func(*T) int64) render.Field[T] {
	return render.Num(name, func(row *T) int64 { return ns(row) / 1000 }).As(render.Fixed).Digits(3).Text(head, 10).In("ms")
}

// sockLifeFields and sockTurnFields are the columns of both tables.
var (
	sockLifeFields = slices.Concat([]render.Field[turns.Followed]{
		render.Num("generation", func(c *turns.Followed) int64 { return int64(c.Sock.Gen) }).Text("GEN", 3),
		inMs("known_ms", "KNOWN_ms", func(c *turns.Followed) int64 { return c.End - c.Start }),
		inMs("estimated_ms", "EST_ms", func(c *turns.Followed) int64 { return c.Estimated }),
	}, turns.Fields(func(c *turns.Followed) *turns.Split { return &c.Split }, func(*turns.Followed) int { return 0 }))

	sockTurnFields = slices.Concat([]render.Field[sockTurn]{
		render.Num("generation", func(t *sockTurn) int64 { return int64(t.gen) }).Text("GEN", 3),
		render.Num("start_s", func(t *sockTurn) int64 { return (t.Start - t.since) / 1000 }).As(render.Fixed).Digits(6).Text("TURN AT(s)", 12).In("s"),
		inMs("turn_ms", "TURN_ms", func(t *sockTurn) int64 { return t.End - t.Start }),
		render.Num("asked_bytes", func(t *sockTurn) int64 { return t.Asked }).Text("ASKED_B", 9).In("bytes"),
		render.Num("answered_bytes", func(t *sockTurn) int64 { return t.Answered }).Text("ANSWERED_B", 10).In("bytes"),
		inMs("estimated_ms", "EST_ms", func(t *sockTurn) int64 { return t.Estimated }),
		render.TextOr("note", (*sockTurn).note).Text("NOTE", -10),
	}, turns.Fields(func(t *sockTurn) *turns.Split { return &t.Split }, func(*sockTurn) int { return 0 }))
)

func newSockWaits(in *engine.Input, wants func(*agg.Socket) bool) *sockWaits {
	f := &sockWaits{in: in, wants: wants}
	f.follow = turns.Follow(in, f.turn, f.ended)
	f.lives = render.ListOf(in.Table, render.Spec{Name: "split"}, sockLifeFields...)
	f.lives.Hold(1 << 16)
	f.turns = render.ListOf(in.Table, render.Spec{Name: "turns"}, sockTurnFields...)
	f.turns.Hold(turnLines)
	return f
}

func (f *sockWaits) turn(c *turns.Followed, t *turns.Turn) {
	if f.wants(c.Sock) {
		f.turns.Line(sockTurn{t, c.Sock.Gen, f.in.Start()})
	}
}

func (f *sockWaits) ended(c *turns.Followed) {
	if f.wants(c.Sock) {
		f.lives.Add(c)
	}
}

// Finish shows both tables.
func (f *sockWaits) Finish(a *render.Answer) {
	f.lives.Show()
	f.turns.Show()
	if n := f.turns.Dropped; n > 0 {
		a.Note(fmt.Sprintf("turns not listed: %s; the slowest: waits --sock ADDR --slowest", engine.Thousands(n)))
	}
	if f.follow.Lacking > 0 {
		a.Note("where the time went is not known: recorded without byte positions")
	}
}

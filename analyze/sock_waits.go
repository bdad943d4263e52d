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
	lives  *render.Table
	turns  *render.Table
}

func newSockWaits(in *engine.Input, wants func(*agg.Socket) bool) *sockWaits {
	f := &sockWaits{in: in, wants: wants}
	f.follow = turns.Follow(in, f.turn, f.ended)
	gen := render.Col("generation", render.Int).Text("GEN", 3)
	ms := func(name, head string) render.Column {
		return render.Col(name, render.Fixed).Digits(3).Text(head, 10).In("ms")
	}
	f.lives = in.Table(render.Spec{Name: "split", Columns: slices.Concat([]render.Column{gen, ms("known_ms", "KNOWN_ms"), ms("estimated_ms", "EST_ms")}, turns.Columns())}).Hold(1 << 16)
	f.turns = in.Table(render.Spec{Name: "turns", Columns: slices.Concat([]render.Column{gen, render.Col("start_s", render.Fixed).Digits(6).Text("TURN AT(s)", 12).In("s"), ms("turn_ms", "TURN_ms"),
		render.Col("asked_bytes", render.Int).Text("ASKED_B", 9).In("bytes"), render.Col("answered_bytes", render.Int).Text("ANSWERED_B", 10).In("bytes"),
		ms("estimated_ms", "EST_ms"), render.Col("note", render.String).Text("NOTE", -10)}, turns.Columns())}).Hold(turnLines)
	return f
}

func (f *sockWaits) turn(c *turns.Followed, t *turns.Turn) {
	if !f.wants(c.Sock) {
		return
	}
	note := ""
	switch {
	case t.Overlap:
		note = "overlap"
	case t.Unfinished:
		note = "unfinished"
	}
	f.turns.Int(int64(c.Sock.Gen)).Int((t.Start - f.in.Start()) / 1000).Int((t.End - t.Start) / 1000).Int(t.Asked).Int(t.Answered).Int(t.Estimated / 1000).StrOr(note)
	t.Split.Put(f.turns, 0)
	f.turns.End()
}

func (f *sockWaits) ended(c *turns.Followed) {
	if !f.wants(c.Sock) {
		return
	}
	f.lives.Int(int64(c.Sock.Gen)).Int((c.End - c.Start) / 1000).Int(c.Estimated / 1000)
	c.Split.Put(f.lives, 0)
	f.lives.End()
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

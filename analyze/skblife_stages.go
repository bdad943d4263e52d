package analyze

import (
	"netrec/analyze/agg"
	"netrec/analyze/engine"
	"netrec/analyze/render"
	"netrec/analyze/scan"
)

// Parts of the stack that an sk_buff passes, in their order.
const (
	stageSocket uint8 = iota
	stageQueue
	stageDriver
	stageReceive
	stageCount
)

var stageNames = [stageCount]string{"socket and protocols", "device queue", "driver", "receive"}

// stages divides the lives of sk_buffs by the part of the stack they are in.
type stages struct {
	t    *render.List[namedStage]
	skbs *agg.Packets
	sums [stageCount]agg.Stats

	Skb scan.Int
}

type namedStage struct {
	name string
	*agg.Stats
}

var stageFields = []render.Field[namedStage]{
	render.Text("stage", func(s *namedStage) string { return s.name }).Text("STAGE", -20),
	render.Num("skbs", func(s *namedStage) int64 { return s.Count }).Text("SKBS", 10),
	render.Num("average_ns", func(s *namedStage) int64 { return s.Average() }).Text("AVG_ns", 12).In("ns"),
	render.Num("max_ns", func(s *namedStage) int64 { return s.Max }).Text("MAX_ns", 12).In("ns"),
	render.Num("total_ns", func(s *namedStage) int64 { return s.Sum }).Text("TOTAL_ns", 16).In("ns"),
}

func newStages(in *engine.Input, skbs *agg.Packets) *stages {
	f := &stages{skbs: skbs, t: render.ListOf(in.Table, render.Spec{Name: "stages"}, stageFields...)}
	in.Bind(f)
	const without = "the parts of the stack are not all told apart"
	for _, e := range []struct {
		event string
		stage uint8
	}{{"dev_queue", stageQueue}, {"dev_start_xmit", stageDriver}, {"dev_gro_in", stageReceive}, {"dev_recv", stageReceive}} {
		in.Use(e.event, without, func(r *engine.Row) { f.enter(r.Uint(f.Skb), r.TS, e.stage) })
	}
	return f
}

// enter notes that an sk_buff came into a part of the stack.
func (f *stages) enter(addr uint64, ts int64, stage uint8) {
	s := f.skbs.At(addr)
	if s == nil || s.Stage == stage {
		return
	}
	// What a driver delivers was in no socket before.
	if stage != stageReceive || s.Stage != stageSocket {
		f.sums[s.Stage].Add(ts - s.Since)
	}
	s.Stage, s.Since = stage, ts
}

// end counts the part in which an sk_buff ended.
func (f *stages) end(s *agg.Skb, ts int64) { f.sums[s.Stage].Add(ts - s.Since) }

// Finish shows the parts that sk_buffs were in.
func (f *stages) Finish(*render.Answer) {
	for i := range f.sums {
		if s := &f.sums[i]; s.Count > 0 {
			f.t.Line(namedStage{stageNames[i], s})
		}
	}
}

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
	t    *render.Table
	skbs *agg.Packets
	sums [stageCount]agg.Stats

	Skb scan.Int
}

func newStages(in *engine.Input, skbs *agg.Packets) *stages {
	f := &stages{skbs: skbs, t: in.Table(render.Spec{Name: "stages", Columns: []render.Column{
		render.Col("stage", render.String).Text("STAGE", -20), render.Col("skbs", render.Int).Text("SKBS", 10),
		render.Col("average_ns", render.Int).Text("AVG_ns", 12).In("ns"), render.Col("max_ns", render.Int).Text("MAX_ns", 12).In("ns"),
		render.Col("total_ns", render.Int).Text("TOTAL_ns", 16).In("ns")}})}
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
			f.t.Str(stageNames[i]).Int(s.Count).Int(s.Average()).Int(s.Max).Int(s.Sum).End()
		}
	}
}

package analyze

import (
	"netrec/analyze/engine"
	"netrec/analyze/render"
	"netrec/analyze/turns"
)

// services shows where the time of connections went, by what they are about.
type services struct {
	*turns.Services
	in *engine.Input
}

func newServices(in *engine.Input) *services { return &services{turns.ByService(in, nil), in} }

// show lists the n services with most time, in lines that fit the screen if the answer has to.
func (f *services) show(n int) {
	if !f.Any() {
		return
	}
	most, _ := f.Most(n)
	name := 21
	for _, s := range most {
		name = max(name, len(s.Name))
	}
	ms := func(name, head string) render.Column {
		return render.Col(name, render.Fixed).Digits(3).Text(head, 9).In("ms")
	}
	t := f.in.Table(render.Spec{Name: "services", Title: "where the time went, by service", Columns: append([]render.Column{render.Col("service", render.String).Text("SERVICE", -name),
		render.Col("turns", render.Int).Text("TURNS", 6), ms("p50_ms", "P50_ms"), ms("p99_ms", "P99_ms"), render.Col("shares", render.String).Text("WHERE", 0).ForPeople()}, turns.Columns()[1:]...)})
	for _, s := range most {
		width, known := 0, s.Length.Count > 0
		if f.in.Answer.Fits() {
			width = f.in.Answer.Columns() - name - 28
		}
		t.Str(s.Name).Int(s.Turns).IntOr(s.Length.At(0.5), known).IntOr(s.Length.At(0.99), known).Str(s.Split.SharesIn(width))
		for _, ns := range s.Split {
			t.Int(ns)
		}
		t.End()
	}
}

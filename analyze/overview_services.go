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
	width := 0
	if f.in.Answer.Fits() {
		width = f.in.Answer.Columns() - name - 28
	}
	ms := func(name, head string, share float64) render.Field[turns.Served] {
		return render.NumOr(name, func(s *turns.Served) (int64, bool) { return s.Length.At(share), s.Length.Count > 0 }).As(render.Fixed).Digits(3).Text(head, 9).In("ms")
	}
	t := render.ListOf(f.in.Table, render.Spec{Name: "services", Title: "where the time went, by service"}, append([]render.Field[turns.Served]{
		render.Text("service", func(s *turns.Served) string { return s.Name }).Text("SERVICE", -name),
		render.Num("turns", func(s *turns.Served) int64 { return s.Turns }).Text("TURNS", 6),
		ms("p50_ms", "P50_ms", 0.5),
		ms("p99_ms", "P99_ms", 0.99),
		render.Text("shares", func(s *turns.Served) string { return s.Split.SharesIn(width) }).Text("WHERE", 0).ForPeople(),
	}, turns.NsFields(func(s *turns.Served) *turns.Split { return &s.Split })...)...)
	for _, s := range most {
		t.Add(s)
	}
}

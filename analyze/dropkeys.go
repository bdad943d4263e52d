package analyze

import (
	"cmp"

	"netrec/analyze/engine"
	"netrec/analyze/packets"
	"netrec/analyze/render"
)

// own are the keys that a dropped packet itself has.
func (f *skbdrop) own() map[string]engine.KeyDef {
	saddr, sport, daddr, dport := f.in.Str("saddr"), f.in.Int("sport"), f.in.Str("daddr"), f.in.Int("dport")
	return map[string]engine.KeyDef{
		"kstack": {Columns: []render.Column{render.Col("kstack", render.Stack)}, Put: func(r *engine.Row, v *engine.KeyValues) {
			v.Str(packets.Innermost(cmp.Or(r.Str(f.kstack), r.Str(f.location)), f.frames))
		}},
		"location": {Columns: []render.Column{render.Col("location", render.String)}, Put: func(r *engine.Row, v *engine.KeyValues) { v.StrOr(r.Str(f.location)) }},
		"dev":      {Columns: []render.Column{render.Col("dev", render.String)}, Put: func(r *engine.Row, v *engine.KeyValues) { v.StrOr(f.devs.of(r)) }},
		"flow": {Columns: []render.Column{render.Col("from", render.String), render.Col("to", render.String)}, Put: func(r *engine.Row, v *engine.KeyValues) {
			from, to := packets.Ends(r, saddr, sport, daddr, dport)
			v.StrOr(from)
			v.StrOr(to)
		}},
	}
}

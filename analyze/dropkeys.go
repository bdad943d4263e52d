package analyze

import (
	"cmp"
	"strings"

	"netrec/analyze/engine"
	"netrec/analyze/render"
	"netrec/schema"
)

// own are the keys that a dropped packet itself has.
func (f *skbdrop) own() map[string]engine.KeyDef {
	saddr, sport, daddr, dport := f.in.Str("saddr"), f.in.Int("sport"), f.in.Str("daddr"), f.in.Int("dport")
	return map[string]engine.KeyDef{
		"kstack": {Columns: []render.Column{render.Col("kstack", render.Stack)}, Put: func(r *engine.Row, v *engine.KeyValues) {
			v.Str(innermost(cmp.Or(r.Str(f.kstack), r.Str(f.location)), f.frames))
		}},
		"location": {Columns: []render.Column{render.Col("location", render.String)}, Put: func(r *engine.Row, v *engine.KeyValues) { v.StrOr(r.Str(f.location)) }},
		"dev":      {Columns: []render.Column{render.Col("dev", render.String)}, Put: func(r *engine.Row, v *engine.KeyValues) { v.StrOr(f.devs.of(r)) }},
		"flow": {Columns: []render.Column{render.Col("from", render.String), render.Col("to", render.String)}, Put: func(r *engine.Row, v *engine.KeyValues) {
			from, to := packetEnds(r, saddr, sport, daddr, dport)
			v.StrOr(from)
			v.StrOr(to)
		}},
	}
}

// innermost is the part of a folded stack that holds its last n frames.
func innermost(stack string, n int) string {
	for i := len(stack); n > 0; n-- {
		if i = strings.LastIndexByte(stack[:i], ';'); i < 0 {
			return stack
		}
		if n == 1 {
			return stack[i+1:]
		}
	}
	return stack
}

// dropCodes are the numbers that the recording's kernel has for reasons of drops.
func dropCodes(in *engine.Input) map[string]int64 {
	codes := map[string]int64{}
	if in.Meta != nil {
		for name, n := range in.Meta.Enums[schema.DropReasons.Name] {
			codes[strings.TrimPrefix(name, schema.DropReasons.Trim)] = n
		}
	}
	return codes
}

// tcpFlags names the bits of a TCP header's flag byte as BCC does.
func tcpFlags(v int64) string {
	s := ""
	for i, name := range [...]string{"FIN", "SYN", "RST", "PSH", "ACK", "URG", "ECE", "CWR"} {
		if v>>i&1 == 0 {
			continue
		}
		if s != "" {
			s += "|"
		}
		s += name
	}
	return s
}

package analyze

import (
	"netrec/analyze/agg"
	"netrec/analyze/engine"
	"netrec/analyze/render"
	"netrec/analyze/shape"
)

// pollTypes counts what the descriptors are that programs wait on.
type pollTypes struct {
	in    *engine.Input
	types agg.Keyed[shape.Text, pollType]
}

// pollType is how often descriptors of a type were waited on, and how often one was ready.
type pollType struct{ watched, ready int64 }

// otherFile is the type of what is no socket, or not known to be one.
const otherFile = "other or unknown"

// of is the count of the type of a file.
func (f *pollTypes) of(file *agg.File) *pollType {
	name := otherFile
	if file != nil {
		name = "socket"
		s := f.in.SocketAt(file.Addr)
		if s != nil && s.Protocol != "" && s.Protocol != "ip" { // number 0 is the default of any family
			name = s.Protocol
		}
		if s != nil && s.State == "LISTEN" {
			name += " listener"
		}
	}
	if t := f.types.At(shape.Text(name)); t != nil {
		return t
	}
	return &pollType{}
}

// Finish lists the types, most watched first.
func (f *pollTypes) Finish(*render.Answer) {
	t := f.in.Table(render.Spec{Name: "types", Title: "descriptors by what they lead to, each time that a call waits on them", Columns: []render.Column{
		render.Col("type", render.String).Text("TYPE", -18), render.Col("watched", render.Int).Text("WATCHED", 10), render.Col("ready", render.Int).Text("READY", 10)}})
	for _, k := range f.types.Sorted(func(p *pollType) int64 { return -p.watched }, shape.Text.Compare) {
		p := f.types.At(k)
		t.Str(string(k)).IntOr(p.watched, p.watched > 0).Int(p.ready).End()
	}
}

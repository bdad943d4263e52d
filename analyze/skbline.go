package analyze

import (
	"fmt"

	"netrec/analyze/engine"
	"netrec/analyze/render"
)

// derivations are how an sk_buff came of its parent, or went into it.
var derivations = map[string]string{"clone": "cloned from", "copy": "copied from", "segment": "cut out of", "gro": "merged by GRO into", "coalesce": "merged by TCP into"}

// derivation says what became of two sk_buffs.
func (f *packet) derivation(r *engine.Row) string {
	s := fmt.Sprintf("%s 0x%x", derivations[r.Str(f.kind)], r.Uint(f.parent))
	if r.Int(f.ok) == 0 {
		return "not " + s
	}
	return s
}

func (f *packet) line(r *engine.Row, what string) {
	pid, comm := f.in.Owner(r)
	f.t.Int(f.gen).Int((r.TS-f.in.Start())/1000).Uint(r.Uint(f.skb)).IntOr(pid, pid != 0).StrOr(comm).Str(r.Event.Name).Str(what)
	sock := int64(0)
	if r.Sock != nil {
		sock = int64(r.Sock.Addr)
	}
	f.t.IntOr(sock, sock != 0).Int(r.TS).End()
}

// Finish shows the time line.
func (f *packet) Finish(a *render.Answer) {
	f.t.Show()
	if n := f.t.Dropped; n > 0 {
		a.Note(fmt.Sprintf("timeline truncated: %s more lines; --limit shows more", engine.Thousands(n)))
	}
}

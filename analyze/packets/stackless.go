package packets

import (
	"fmt"

	"netrec/analyze/engine"
	"netrec/analyze/render"
	"netrec/analyze/scan"
)

// Stackless counts rows whose stack was not taken: the recorder takes a share of those that
// tell little and cost much.
type Stackless struct {
	Stack     scan.Str
	rows, not int64
}

// Row counts a row of a packet.
func (s *Stackless) Row(r *engine.Row) {
	s.rows++
	if !r.HasStr(s.Stack) {
		s.not++
	}
}

// Finish says how many they were.
func (s *Stackless) Finish(a *render.Answer) {
	if s.not > 0 && s.not < s.rows { // none has one where the kernel or the profile gives none
		a.Note(fmt.Sprintf("%s of %s packets have no stack, because stacks were sampled; netrec record --all-stacks records all", engine.Thousands(s.not), engine.Thousands(s.rows)))
	}
}

package analyze

import (
	"fmt"

	"netrec/analyze/engine"
	"netrec/analyze/render"
	"netrec/analyze/scan"
)

// stackless counts rows whose stack was not taken: the recorder takes a share of those that
// tell little and cost much.
type stackless struct {
	stack     scan.Col
	rows, not int64
}

func (s *stackless) row(r *engine.Row) {
	s.rows++
	if !r.Has(s.stack) {
		s.not++
	}
}

// Finish says how many they were.
func (s *stackless) Finish(a *render.Answer) {
	if s.not > 0 && s.not < s.rows { // none has one where the kernel or the profile gives none
		a.Note(fmt.Sprintf("%s of %s packets have no stack, because stacks were sampled; netrec record --all-stacks records all", engine.Thousands(s.not), engine.Thousands(s.rows)))
	}
}

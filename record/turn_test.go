package record

import (
	"slices"
	"testing"

	"netrec/record/hook"
	"netrec/record/host"
)

// What the recorder may not do is in every file of a recording: it gives up what it may
// before the second one.
func TestWarningsOfLaterFiles(t *testing.T) {
	s := &session{lacks: []string{"without CAP_X: no y"}, report: &host.Report{Warnings: []string{"of the host"}}, hooks: &hook.Set{}}
	if got, want := s.warnings(0), []string{"without CAP_X: no y", "of the host"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

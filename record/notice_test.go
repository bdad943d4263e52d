package record

import "testing"

// Notices reach whoever asked for them, and what is told once is told once.
func TestNotices(t *testing.T) {
	var got []Notice
	s := &session{opt: Options{Notice: func(n Notice) { got = append(got, n) }}}
	for range 3 {
		if s.once("lost commits") {
			s.notice(AboutFile, "%d commits lost", 7)
		}
	}
	s.notice(AboutNames, "no names")
	if len(got) != 2 || got[0] != (Notice{AboutFile, "7 commits lost"}) || got[1].About != AboutNames {
		t.Errorf("told %v", got)
	}
	(&session{}).notice(AboutHost, "nobody listens")
}

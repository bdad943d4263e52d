package encode

import (
	"testing"

	"netrec/schema"
)

func TestPaths(t *testing.T) {
	for _, c := range []struct {
		want  string
		form  byte
		parts string
	}{
		{"", 0, "x\x00"},
		{"", 99, "x\x00"},
		{"/", schema.PathRooted, ""},
		{"/passwd", schema.PathRooted, "passwd\x00"},
		{"/etc/ssh/keys", schema.PathRooted, "keys\x00ssh\x00etc\x00"},
		{".../ssh/keys", schema.PathCut, "keys\x00ssh\x00"},
		{"[eventfd]", schema.PathFree, "[eventfd]\x00"},
		{"/no/zero/at/the/ends", schema.PathRooted, "ends\x00the\x00at\x00zero\x00no"},
	} {
		raw := append([]byte{c.form}, c.parts...)
		if got := string(appendPath(nil, raw)); got != c.want {
			t.Errorf("%q: %q, want %q", raw, got, c.want)
		}
		if got := string(appendPath(nil, append(raw, make([]byte, 20)...))); got != c.want {
			t.Errorf("%q and zeros: %q, want %q", raw, got, c.want)
		}
	}
}

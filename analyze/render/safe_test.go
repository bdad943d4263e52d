package render

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestAppendSafe(t *testing.T) {
	tests := []struct{ in, want string }{
		{"curl", "curl"},
		{"höst — ünïcode", "höst — ünïcode"},
		{"\x1b[2J", `\x1b[2J`},
		{"a\nb\tc\r", `a\x0ab\x09c\x0d`},
		{"\x7f", `\x7f`},
		{"\u0085", `\x85`},
		{"\xff\xfe", `\xff\xfe`},
		{"\xe2\x80", `\xe2\x80`},
		{"user\u202egnp.exe", `user\u202egnp.exe`},
		{"\u2066\u200b\ufeff\u2028", `\u2066\u200b\ufeff\u2028`},
		{`a\x1b`, `a\\x1b`},
		{"\U000e0041", `\udb40\udc41`},
	}
	for _, tt := range tests {
		if got := string(AppendSafe(nil, tt.in)); got != tt.want {
			t.Errorf("%q: got %s, want %s", tt.in, got, tt.want)
		}
	}
}

func TestAppendCSV(t *testing.T) {
	tests := []struct{ in, want string }{
		{"plain", "plain"}, {"=1+1", "'=1+1"}, {"+1", "'+1"}, {"-1", "'-1"}, {"@x", "'@x"}, {"\t=1", `'\x09=1`}, {"\rx", `'\x0dx`},
		{"a,b", `"a,b"`}, {`=a"b`, `"'=a""b"`}, {"a\nb", `a\x0ab`}, {"", ""},
	}
	for _, tt := range tests {
		if got := string(appendCSV(nil, tt.in)); got != tt.want {
			t.Errorf("%q: got %s, want %s", tt.in, got, tt.want)
		}
	}
}

// FuzzEncoders holds for any bytes: text has no control character and is UTF-8,
// CSV stays one field of one line, JSON decodes to the string.
func FuzzEncoders(f *testing.F) {
	for _, s := range []string{"curl", "\x1b]0;x\a", "=cmd|' /C calc'!A0", "a\"b,c\n", "\u202e\xff\\", "\U0010ffff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		safe := string(AppendSafe(nil, s))
		if !utf8.ValidString(safe) || strings.ContainsFunc(safe, func(r rune) bool { return r < ' ' || r >= 0x7f && r < 0xa0 || steers(r) }) {
			t.Errorf("text of %q: %q", s, safe)
		}
		csv := string(appendCSV(nil, s))
		if s != "" && strings.ContainsRune("=+-@", rune(strings.TrimPrefix(csv, `"`)[0])) {
			t.Errorf("CSV of %q is a formula: %q", s, csv)
		}
		var back string
		if err := json.Unmarshal(appendJSON(nil, s), &back); err != nil || back != strings.ToValidUTF8(s, "\ufffd") && utf8.ValidString(s) {
			t.Errorf("JSON of %q: %q, %v", s, back, err)
		}
	})
}

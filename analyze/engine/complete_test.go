package engine

import (
	"slices"
	"testing"
)

func TestComplete(t *testing.T) {
	sock := &Analysis{Name: "sock", Arg: "ADDR", Question: "one?"}
	life := &Analysis{Name: "life", Aliases: []string{"lives --wide"}, Question: "how long?",
		Options: []Option{{Name: "wide", Kind: Flag}, {Name: "by", Kind: Choices, Choices: []string{"pid", "comm"}}, {Name: "top", Short: "n", Kind: Number}}}
	all := []*Analysis{sock, life}
	for _, c := range []struct {
		args  []string
		typed string
		want  string // a word that is offered; "" for none
		files bool
		addr  bool
	}{
		{nil, "", "", true, false},
		{nil, "--li", "--list", false, false},
		{[]string{"f"}, "l", "life", false, false},
		{[]string{"f"}, "", "all", false, false},
		{[]string{"f", "sock"}, "", "", false, true},
		{[]string{"f", "sock", "0x12"}, "", "life", false, false},
		{[]string{"--port", "80", "f", "sock"}, "0x", "", false, true},
		{[]string{"f", "life", "--sock"}, "", "", false, true},
		{[]string{"f", "life"}, "-", "--wide", false, false},
		{[]string{"f", "lives"}, "-", "--by", false, false},
		{[]string{"f", "life", "--by"}, "", "comm", false, false},
		{[]string{"f", "life", "--by"}, "pid,", "pid,comm", false, false},
		{[]string{"f", "life"}, "--by=", "--by=pid", false, false},
		{[]string{"f", "life", "-n"}, "", "", false, false},
		{[]string{"f", "-f"}, "", "ndjson", false, false},
		{[]string{"f", "-o"}, "", "", true, false},
		{[]string{"f", "nonsense", "--what"}, "", "life", false, false},
	} {
		got := Complete(all, life, c.args, c.typed)
		has := slices.ContainsFunc(got.Words, func(w Word) bool { return w.Text == c.want })
		if has != (c.want != "") || got.AnyFile != c.files || (got.AddrOf != nil) != c.addr {
			t.Errorf("after %q at %q: %v, files %v, address %v", c.args, c.typed, got.Words, got.AnyFile, got.AddrOf != nil)
		}
	}
	if c := Complete(all, life, []string{"f", "life", "--symbols"}, ""); !c.AnyDir || c.AnyFile || len(c.Words) > 0 {
		t.Errorf("folders are wanted: %+v", c)
	}
	if c := Complete(all, life, []string{"f", "--port", "80", "sock"}, ""); !slices.Equal(c.Files, []string{"f"}) || c.Options["port"] != "80" {
		t.Errorf("the words before were not understood: %+v", c.Request)
	}
}

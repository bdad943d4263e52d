package agg

import (
	"fmt"
	"testing"
)

func TestNextPoll(t *testing.T) {
	for list, want := range map[string]string{
		"":                    "",
		"5:IN|OUT,7:IN,+3":    "5=IN|OUT 7=IN +3",
		"0x55d0c0ffee00:OUT":  "0x55d0c0ffee00=OUT",
		"x:IN,,5:IN,+x,0xz:I": "5=IN",
		"99999999999:IN,-1:":  "-1=",
	} {
		got := ""
		for {
			e, rest, ok := NextPoll(list)
			if !ok {
				break
			}
			switch list = rest; {
			case e.More > 0:
				got += fmt.Sprintf(" +%d", e.More)
			case e.Epoll:
				got += fmt.Sprintf(" 0x%x=%s", e.Data, e.Events)
			default:
				got += fmt.Sprintf(" %d=%s", e.FD, e.Events)
			}
		}
		if got != "" {
			got = got[1:]
		}
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if n := testing.AllocsPerRun(10, func() { NextPoll("5:IN|OUT,7:IN,+3") }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestEpolls(t *testing.T) {
	var e Epolls
	f, g := &File{Serial: 1}, &File{Serial: 2}
	e.Control("ADD", 7, 4, 5, 0xa, f)
	e.Control("ADD", 7, 4, 6, 0xb, g)
	e.Control("ADD", 7, 4, 9, 0xc, nil) // no socket
	if e.File(7, 4, 0xa) != f || e.File(7, 4, 0xb) != g || e.File(7, 4, 0xc) != nil || e.File(8, 4, 0xa) != nil || e.Size(7, 4) != 3 || !e.Seen(7, 4) || e.Seen(7, 5) {
		t.Error("added")
	}
	e.Control("MOD", 7, 4, 5, 0xd, f)
	if e.File(7, 4, 0xa) != nil || e.File(7, 4, 0xd) != f || e.Size(7, 4) != 3 {
		t.Error("other data for the same descriptor")
	}
	e.Control("MOD", 7, 4, 6, 0xd, g)
	if e.File(7, 4, 0xd) != nil {
		t.Error("data that two have tells neither")
	}
	e.Control("DEL", 7, 4, 6, 0, g)
	e.Control("DEL", 7, 4, 6, 0, g)
	if e.Size(7, 4) != 2 {
		t.Errorf("%d left", e.Size(7, 4))
	}
	e.Control("ADD", 7, 4, 8, 0xe, f)
	f.Serial = -1
	if e.File(7, 4, 0xe) != nil {
		t.Error("a file that is over")
	}
}

package objfile

import (
	"strings"
	"testing"
)

func TestDemangle(t *testing.T) {
	for in, want := range map[string]string{
		"_ZN3net6Client7connectERKSsi":                    "net::Client::connect",
		"_ZNSt6vectorIiSaIiEE9push_backERKi":              "std::vector<int, std::allocator<int> >::push_back",
		"_ZN4core3ptr13drop_in_place17h0123456789abcdefE": "core::ptr::drop_in_place",
		"_RNvNtCs1234_7mycrate3foo3bar":                   "mycrate::foo::bar",
		"_ZN3net6Client7connectERKSsi.cold":               "net::Client::connect",
		"connect":                                         "connect",
		"_start":                                          "_start",
		"_Z":                                              "_Z",
		"_ZN":                                             "_ZN",
		"_Rubbish":                                        "_Rubbish",
		"main.(*T).f":                                     "main.(*T).f",
		"_Z" + strings.Repeat("1a", maxMangled):           "_Z" + strings.Repeat("1a", maxMangled),
	} {
		if got := Demangle(in); got != want {
			t.Errorf("%.80s: %.80s, want %.80s", in, got, want)
		}
	}
}

// A short name may stand for one that doubles with each letter: neither the answer nor the
// time for it may be without end.
func TestDemangleIsBounded(t *testing.T) {
	bomb := "_Z1fSt4pairIS_S_E"
	for range 200 {
		bomb += "S_IS_S_E"
	}
	for _, name := range []string{bomb, "_Z" + strings.Repeat("P", 2000) + "i", "_Z1f" + strings.Repeat("IS_", 600), "_R" + strings.Repeat("I", 2000), "_RINv" + strings.Repeat("B_", 900)} {
		if got := Demangle(name); len(got) > 1<<maxPlain+len(name) {
			t.Errorf("%.40s: %d bytes", name, len(got))
		}
	}
}

package engine

import (
	"errors"
	"reflect"
	"strings"
	"testing"
)

var declared = []*Analysis{
	{Name: "tcplife", Aliases: []string{"life"}, Question: "q?", Options: []Option{
		{Name: "compat", Kind: Choice, Implied: "script", Default: "no", Choices: []string{"no", "script", "bcc"}}, {Name: "top", Short: "n", Kind: Number, Implied: "20"}}},
	{Name: "sock", Arg: "ADDR", ArgFrom: "socks", Question: "q?"},
	{Name: "overview", Question: "q?", Options: []Option{{Name: "deep", Kind: Flag}}},
	{Name: "judge", Question: "q?", Arg: "ADDR", ArgFrom: "socks", Options: []Option{{Name: "set", Kind: Several, Check: func(v string) error {
		if v == "bad" {
			return &UsageError{Msg: "bad is bad", Meant: "did you mean good?"}
		}
		return nil
	}}}},
}

func TestParse(t *testing.T) {
	tests := []struct {
		args    string
		file    string
		calls   []string
		addr    uint64
		options []map[string]string
		global  map[string]string
	}{
		{"f", "f", []string{"overview"}, 0, []map[string]string{{}}, nil},
		{"f --deep", "f", []string{"overview"}, 0, []map[string]string{{"deep": "true"}}, nil},
		{"f tcplife", "f", []string{"tcplife"}, 0, []map[string]string{{}}, nil},
		{"f life --port 80,81 --port 443", "f", []string{"tcplife"}, 0, []map[string]string{{}}, map[string]string{"port": "80,81,443"}},
		{"f life --compat --port 80", "f", []string{"tcplife"}, 0, []map[string]string{{"compat": "script"}}, map[string]string{"port": "80"}},
		{"--pid=7 f tcplife --compat bcc -n 3 sock 0xff", "f", []string{"tcplife", "sock"}, 0xff, []map[string]string{{"compat": "bcc", "top": "3"}, {}}, map[string]string{"pid": "7"}},
		{"f tcplife --top sock ff", "f", []string{"tcplife", "sock"}, 0xff, []map[string]string{{"top": "20"}, {}}, nil},
		{"f tcplife --comm sock", "f", []string{"tcplife"}, 0, []map[string]string{{}}, map[string]string{"comm": "sock"}},
		{"f all --pid 7", "f", []string{"tcplife", "overview"}, 0, []map[string]string{{}, {}}, map[string]string{"pid": "7"}},
		{"tcplife f.parquet --compat", "f.parquet", []string{"tcplife"}, 0, []map[string]string{{"compat": "script"}}, nil},
		{"a.parquet b/c tcplife d*", "a.parquet b/c d*", []string{"tcplife"}, 0, []map[string]string{{}}, nil},
		{"f args_test.go tcplife", "f args_test.go", []string{"tcplife"}, 0, []map[string]string{{}}, nil},
		{"f sock ff ./sock life", "f ./sock", []string{"sock", "tcplife"}, 0xff, []map[string]string{{}, {}}, nil},
		{"f judge ff --set a,b --set c", "f", []string{"judge"}, 0xff, []map[string]string{{"set": "a,b,c"}}, nil},
		{"f tcplife tcplife --compat=bcc", "f", []string{"tcplife", "tcplife"}, 0, []map[string]string{{}, {"compat": "bcc"}}, nil},
	}
	for _, tt := range tests {
		req, err := Parse(declared, declared[2], strings.Fields(tt.args))
		if err != nil {
			t.Errorf("%s: %v", tt.args, err)
			continue
		}
		var names []string
		var opts []map[string]string
		for _, c := range req.Calls {
			names, opts = append(names, c.Analysis.Name), append(opts, c.Options)
			if c.Analysis.Arg != "" && c.Addr != tt.addr {
				t.Errorf("%s: address %x", tt.args, c.Addr)
			}
		}
		if tt.global == nil {
			tt.global = map[string]string{}
		}
		if strings.Join(req.Files, " ") != tt.file || !reflect.DeepEqual(names, tt.calls) || !reflect.DeepEqual(opts, tt.options) || !reflect.DeepEqual(req.Options, tt.global) {
			t.Errorf("%s: %q %v %v %v", tt.args, req.Files, names, opts, req.Options)
		}
	}
}

func TestParseMistakes(t *testing.T) {
	tests := []struct{ args, msg, hint string }{
		{"f tcplive", `no analysis "tcplive"`, "did you mean tcplife?"},
		{"f zzzzzz", `no analysis "zzzzzz"`, "--list"},
		{"f tcplife --comapt", "no option --comapt", "did you mean --compat?"},
		{"f tcplife --compat=maybe", `"maybe" is not one of no, script, bcc`, ""},
		{"f --fromm 5s", "no option --fromm", "did you mean --from?"},
		{"f --port", "needs a value", ""},
		{"f --port http", `"http" is not a port`, ""},
		{"f --port 80,0", `"0" is not a port`, ""},
		{"f -f yaml", `"yaml" is not one of`, ""},
		{"f --deep tcplife", "put options of an analysis after its name", ""},
		{"f all --deep", "--deep is not an option of every analysis", "after its name"},
		{"f judge ff --set good,bad", "option --set: bad is bad", "did you mean good?"},
		{"f sock", "needs an argument ADDR", "socks"},
		{"f sock 12zz", "is not a kernel address", ""},
	}
	for _, tt := range tests {
		_, err := Parse(declared, declared[2], strings.Fields(tt.args))
		var u *UsageError
		if !errors.As(err, &u) || !strings.Contains(u.Msg, tt.msg) || !strings.Contains(u.Hint(), tt.hint) {
			t.Errorf("%s: %v", tt.args, err)
		}
	}
}

func TestSelectionMistakes(t *testing.T) {
	src := parse(t, "", twoProcesses)
	for _, opt := range []map[string]string{{"from": "later"}, {"port": "65536"}, {"addr": "10.0.0"}, {"sock": "0"}, {"pid": "99999999999"}, {"from": "5s", "to": "5s"}} {
		if s, err := NewSelection(src.Meta(), opt); err == nil {
			t.Errorf("%v was accepted: %+v", opt, s)
		}
	}
}

func TestHelpNamesEverything(t *testing.T) {
	a := counter("count", "dns_call")
	s, err := Help(a)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"how many?", "--double", "Needs the events: dns_call", "Uses if recorded: tcp_state", "--from"} {
		if !strings.Contains(s, want) {
			t.Errorf("help lacks %q:\n%s", want, s)
		}
	}
	if l := List(declared); !strings.Contains(l, "sock ADDR") {
		t.Errorf("list: %s", l)
	}
}

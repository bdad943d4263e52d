package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"netrec/schema"
)

// namedEvents are the files that all events pass through and that name some of them, for
// what only these are or do. What an event is to others is a field of schema.Event.
var namedEvents = map[string][]string{
	"analyze/agg/descriptors.go": {"softirq"}, // the context
	"analyze/engine/doors.go":    {"sock_io", "sock_stack", "sys_accept", "sys_connect", "tcp_msg", "tcp_state", "udp_msg"},
	"analyze/engine/gaps.go":     {"lost"},
	"analyze/engine/spent.go":    {"cost"},
	"analyze/engine/thinned.go":  {"sock_io"},
	"record/account.go":          {"cost", "lost", "meta"},
	"record/hook/count.go":       {"func_count", "tp_count"},
	"record/hook/set.go":         {"skb_alloc", "skb_derive", "skb_free"},
	"record/late.go":             {"qdisc_deq", "qdisc_enq"},
	"record/options.go":          {"func_count", "sock_stack", "tp_count"},
}

// TestEventsAreNotListed: a new event changes nothing between its probe and the analyses.
func TestEventsAreNotListed(t *testing.T) {
	seen := 0
	for _, dir := range []string{"record", "cmd/netrec", "analyze/engine", "analyze/agg", "analyze/scan", "analyze/parquetfile", "analyze/render", "analyze/shape"} {
		must(t, filepath.WalkDir("../../"+dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			name := filepath.ToSlash(strings.TrimPrefix(path, "../../"))
			for _, event := range eventsIn(t, path) {
				if seen++; !slices.Contains(namedEvents[name], event) {
					t.Errorf("%s names the event %s: say in schema.Event what it is to others", name, event)
				}
			}
			return nil
		}))
	}
	if seen == 0 {
		t.Error("no event was found where some are known")
	}
}

// eventsIn are the strings of a file that are names of events.
func eventsIn(t *testing.T, path string) (names []string) {
	f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	must(t, err)
	ast.Inspect(f, func(n ast.Node) bool {
		if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
			if s, err := strconv.Unquote(l.Value); err == nil && schema.ByName(s) != nil {
				names = append(names, s)
			}
		}
		return true
	})
	return names
}

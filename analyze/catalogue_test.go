package analyze

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"netrec/analyze/engine"
	"netrec/analyze/engine/eventtext"
	"netrec/analyze/scan"
	"netrec/schema"
)

// longestFile is how many lines an analysis may have, with the helpers that are its own.
const longestFile = 300

// TestOneFilePerAnalysis holds the promise that an analysis is one file and one
// golden: it is declared in the file of its name and mentioned in no other.
func TestOneFilePerAnalysis(t *testing.T) {
	sources, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	code := map[string][]byte{}
	for _, f := range sources {
		if !strings.HasSuffix(f, "_test.go") {
			if code[f], err = os.ReadFile(f); err != nil {
				t.Fatal(err)
			}
		}
	}
	declaration := regexp.MustCompile(`(?m)^\s+Name:\s+"([^"]+)",$`)
	declared := 0
	for f, src := range code {
		if bytes.Contains(src, []byte("= register(")) {
			declared++
			m := declaration.FindSubmatch(src)
			if m == nil || string(m[1])+".go" != f {
				t.Errorf("%s declares %q", f, m)
			}
		}
		if n := bytes.Count(src, []byte("\n")); n > longestFile {
			t.Errorf("%s has %d lines, want at most %d", f, n, longestFile)
		}
	}
	if declared != len(All()) {
		t.Errorf("%d files declare %d analyses", declared, len(All()))
	}
	for _, a := range All() {
		for f, src := range code {
			// A column may have the same name.
			if f != a.Name+".go" && schema.ColumnIndex(a.Name) < 0 && bytes.Contains(src, []byte(`"`+a.Name+`"`)) {
				t.Errorf("%s names the analysis %s", f, a.Name)
			}
		}
	}
}

// TestOneRuleForBytes: what a read with MSG_PEEK counts for is decided in one place.
func TestOneRuleForBytes(t *testing.T) {
	var sources []string
	for _, dir := range []string{"", "report/", "story/", "findings/", "engine/", "agg/", "shape/", "line/", "calls/", "packets/"} {
		files, err := filepath.Glob(dir + "*.go")
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: no sources, %v", dir, err)
		}
		sources = append(sources, files...)
	}
	for _, f := range sources {
		src, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if f != "engine/bytes.go" && !strings.HasSuffix(f, "_test.go") && bytes.Contains(src, []byte(`"msg_flags"`)) {
			t.Errorf("%s reads the flags of calls itself; engine.Bytes has the rule", f)
		}
	}
}

func TestEveryAnalysisHasAGolden(t *testing.T) {
	for _, a := range All() {
		b, err := os.ReadFile(filepath.Join(goldens, a.Name+".txtar"))
		if err != nil {
			t.Error(err)
			continue
		}
		for _, section := range []string{"-- events --\n", "-- args --\n" + a.Name, "-- text --\n", "-- json --\n"} {
			if !bytes.Contains(b, []byte(section)) {
				t.Errorf("golden of %s has no section %q", a.Name, section)
			}
		}
		for _, o := range a.Options {
			if !bytes.Contains(b, []byte("--"+o.Name)) {
				t.Errorf("golden of %s does not use its option --%s", a.Name, o.Name)
			}
		}
	}
	files, err := filepath.Glob(goldens + "/*.txtar")
	if err != nil || len(files) != len(All()) {
		t.Errorf("%d goldens for %d analyses, %v", len(files), len(All()), err)
	}
}

// Every help ends in an answer from a real recording.
func TestShownAnswers(t *testing.T) {
	files, err := filepath.Glob("shown/*")
	if err != nil || len(files) != len(All()) {
		t.Errorf("%d shown answers for %d analyses, %v", len(files), len(All()), err)
	}
	for _, f := range files {
		a := Find(strings.TrimSuffix(filepath.Base(f), ".txt"))
		if a == nil || a.Shown == "" {
			t.Errorf("%s is of no analysis", f)
		} else if n := strings.Count(a.Shown, "\n"); n > 20 {
			t.Errorf("%s has %d lines, want at most 20", f, n)
		}
	}
}

func TestDeclarations(t *testing.T) {
	names := map[string]bool{}
	for _, a := range All() {
		for _, n := range append([]string{a.Name}, a.Aliases...) {
			if n = strings.Fields(n)[0]; names[n] {
				t.Errorf("name %s is taken twice", n)
			}
			names[n] = true
		}
		if !strings.HasSuffix(a.Question, "?") || a.Help == "" || a.Group == "" || !strings.HasPrefix(a.Example, a.Name) {
			t.Errorf("analysis %s: question, help, group or example is missing", a.Name)
		}
		for _, o := range a.Options {
			if o.Doc == "" {
				t.Errorf("analysis %s: option %s has no doc", a.Name, o.Name)
			}
			for _, g := range engine.Global {
				if o.Name == g.Name || o.Short != "" && o.Short == g.Short {
					t.Errorf("analysis %s: option %s hides the global one", a.Name, o.Name)
				}
			}
		}
		if _, _, err := engine.Needs(a); err != nil {
			t.Errorf("analysis %s: %v", a.Name, err)
		}
		if _, err := engine.Parse(All(), Find("overview"), append([]string{"FILE"}, strings.Fields(strings.ReplaceAll(a.Example, "> window.csv", ""))...)); err != nil {
			t.Errorf("example of %s: %v", a.Name, err)
		}
	}
}

// The list has names that say something; p1 and b11 can be typed all the same.
func TestListLeavesNumbersOut(t *testing.T) {
	list := engine.List(All())
	if m := regexp.MustCompile(`\b[a-z][0-9]+\b`).FindAllString(list, -1); m != nil {
		t.Errorf("the list names %q", m)
	}
	for _, want := range []string{"udpio", "pollfanout", "qdisc-fq_codel"} {
		if !strings.Contains(list, want) {
			t.Errorf("the list lacks %s", want)
		}
	}
	for name, want := range map[string]string{"p1": "acceptcount", "b11": "funccount", "p23": "tpcount"} {
		if a := Find(name); a == nil || a.Name != want {
			t.Errorf("%s is not %s", name, want)
		}
	}
}

// TestOverviewListsWhatCanBeAnswered is no golden, so that a new analysis changes none.
func TestOverviewListsWhatCanBeAnswered(t *testing.T) {
	src, err := eventtext.Parse(`{"Recording": {"start_ns": 1, "events": ["tcp_state"]}}`, "+1ms tcp_state sock=0x10 old_state=CLOSE new_state=LISTEN")
	if err != nil {
		t.Fatal(err)
	}
	got := string(answer(t, src, "overview --all", "text"))
	for _, a := range All() {
		// Not what it needs at best: some can do with another event.
		o, err := engine.Check(src.Meta(), a)
		if err != nil {
			t.Fatal(err)
		}
		can := "yes"
		if o.Status != engine.Answered {
			can = "no"
		}
		if !regexp.MustCompile(`(?m)^` + a.Name + ` +` + can + ` `).MatchString(got) {
			t.Errorf("analysis %s, which can: %s, is not so in\n%s", a.Name, can, got)
		}
	}
}

// undefault are the analyses that a recording with the profile default cannot answer, and why.
var undefault = map[string]string{
	"funccount": "which functions to count must be said: --count-func",
	"tpcount":   "which tracepoints to count must be said: --count-tp",
}

// Where the kernel has its hooks, the plain `netrec record` answers every analysis, some of
// them from a share; the answer says so.
func TestDefaultAnswersAll(t *testing.T) {
	meta := &scan.Meta{Rows: map[string]int64{}}
	for i := range schema.Events {
		e := &schema.Events[i]
		if e.Own() {
			continue
		}
		h := schema.EventHooks{Event: e.Name, State: schema.HookNotAsked}
		if e.Profile == schema.Light || e.Profile == schema.Default {
			h.State = schema.HookAttached
			if e.Drawn() {
				h.Share = &schema.Share{Keep: 1, Of: 16, By: e.Thin}
			}
		}
		meta.Hooks = append(meta.Hooks, h)
	}
	for _, a := range All() {
		o, err := engine.Check(meta, a)
		if err != nil {
			t.Fatal(err)
		}
		switch why := undefault[a.Name]; {
		case o.Status != engine.Answered && why == "":
			t.Errorf("%s: not answered from the profile default: %s", a.Name, o.Why)
		case o.Status == engine.Answered && why != "":
			t.Errorf("%s: is answered now, and listed as: %s", a.Name, why)
		}
	}
}

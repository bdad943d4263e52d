package truth

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"netrec/schema"
)

var update = flag.Bool("update", false, "write docs/hooks.md anew from the kernels booted; all of them must be")

// hooksTable is the page of which kernel records which event how.
const hooksTable = "../../../docs/hooks.md"

const hooksHead = `# Which hook records an event, kernel by kernel

<!-- Written by go test ./internal/bench/truth -kernels all -update; do not edit. -->

Seen in Debian's kernels by the suite, which fails when one of them records an event by another hook than here.
` + "`netrec probes`" + ` prints the same for the kernel it runs on, with the alternatives and why they were not taken. Of a
kind that many hooks share, only the number is given. – is what a kernel cannot record; the reason is below.

`

// saveHooks leaves in the folder that host and guest share how this kernel's events are hooked.
func saveHooks(t *testing.T, c *Capture) {
	t.Helper()
	name := os.Getenv(guestEnv)
	if name == "" {
		return
	}
	text, err := json.Marshal(c.Meta.Hooks)
	if err == nil {
		err = os.WriteFile(filepath.Join("/host", "hooks-"+name+".json"), text, 0o644)
	}
	if err != nil {
		t.Error(err)
	}
}

// compareHooks holds what the guests left against the page, or writes it.
func compareHooks(t *testing.T, share string, kernels []string) {
	t.Helper()
	cells, reasons := map[string]map[string]string{}, map[string]map[string]string{}
	for _, k := range kernels {
		cells[k], reasons[k] = map[string]string{}, map[string]string{}
		var hooks []schema.EventHooks
		text, err := os.ReadFile(filepath.Join(share, "hooks-"+k+".json"))
		if err = errors.Join(err, json.Unmarshal(text, &hooks)); err != nil {
			t.Errorf("hooks of kernel %s: %v", k, err)
			return
		}
		for _, h := range hooks {
			cells[k][h.Event] = hooksCell(h)
			if h.State == schema.HookMissing {
				reasons[k][h.Event] = schema.Reasons(h.Refused)
			}
		}
	}
	if *update {
		if err := os.WriteFile(hooksTable, []byte(hooksPage(kernels, cells, reasons)), 0o644); err != nil {
			t.Error(err)
		}
		return
	}
	page, err := os.ReadFile(hooksTable)
	if err != nil {
		t.Fatal(err)
	}
	known := readHooksPage(string(page))
	for _, k := range kernels {
		for event, cell := range cells[k] {
			if uncounted(known[k][event]) != uncounted(cell) {
				t.Errorf("kernel %s records %s by %q, docs/hooks.md has %q", k, event, cell, known[k][event])
			}
		}
	}
}

// uncounted leaves out how many hooks share a kind: the next kernel may bring a queueing
// discipline more, and what is missing of the rest checkHooks names.
func uncounted(cell string) string { return regexp.MustCompile(`×\d+`).ReplaceAllString(cell, "×") }

// hooksCell is an event's hooks in short.
func hooksCell(h schema.EventHooks) string {
	switch h.State {
	case schema.HookAttached:
	case schema.HookNotAsked:
		return "if asked for"
	default:
		return "–"
	}
	const most = 4
	var kinds []string
	of := map[string][]string{}
	for _, name := range h.Hooks {
		kind, target, _ := strings.Cut(name, ":")
		if of[kind] == nil {
			kinds = append(kinds, kind)
		}
		if !slices.Contains(of[kind], target) {
			of[kind] = append(of[kind], target)
		}
	}
	for i, k := range kinds {
		if n := len(of[k]); n > most {
			kinds[i] = fmt.Sprintf("%s ×%d", k, n)
		} else {
			kinds[i] = k + " " + strings.Join(of[k], ", ")
		}
	}
	return strings.Join(kinds, "; ")
}

func hooksPage(kernels []string, cells, reasons map[string]map[string]string) string {
	var b strings.Builder
	b.WriteString(hooksHead)
	b.WriteString("| event | " + strings.Join(kernels, " | ") + " |\n|---" + strings.Repeat("|---", len(kernels)) + "|\n")
	var missing []string
	for _, e := range schema.Events {
		if e.Own() {
			continue
		}
		b.WriteString("| " + e.Name)
		for _, k := range kernels {
			b.WriteString(" | " + cells[k][e.Name])
			if why := reasons[k][e.Name]; why != "" {
				missing = append(missing, fmt.Sprintf("- %s on %s: %s", e.Name, k, why))
			}
		}
		b.WriteString(" |\n")
	}
	if len(missing) > 0 {
		b.WriteString("\nWhat is missing, and why:\n\n" + strings.Join(missing, "\n") + "\n")
	}
	return b.String()
}

// readHooksPage gives the cells by kernel and event.
func readHooksPage(page string) map[string]map[string]string {
	out := map[string]map[string]string{}
	var kernels []string
	for line := range strings.Lines(page) {
		f := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		for i := range f {
			f[i] = strings.TrimSpace(f[i])
		}
		switch {
		case !strings.HasPrefix(line, "|") || strings.HasPrefix(f[0], "---"):
		case kernels == nil:
			kernels = f[1:]
			for _, k := range kernels {
				out[k] = map[string]string{}
			}
		case len(f) == len(kernels)+1:
			for i, k := range kernels {
				out[k][f[0]] = f[i+1]
			}
		}
	}
	return out
}

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"

	"netrec/analyze"
	"netrec/analyze/engine"
	"netrec/analyze/render"
	"netrec/analyze/sql"
	"netrec/schema"
)

var (
	edgeFiles = flag.Int("edges", 80, "how many files with values at the edges TestEdgeValues asks everything of")
	edgeFirst = flag.Uint64("edge-first", 0, "the number of the first of them")
)

// TestEdgeValues asks everything of files whose values are at and beyond the edges of what a
// recorder writes: nothing may panic or hang, and the same question has the same answer.
func TestEdgeValues(t *testing.T) {
	var all tally
	for i := range uint64(*edgeFiles) {
		d := seeded(*edgeFirst + i)
		askEdges(t, d, fmt.Sprintf("file %d", *edgeFirst+i))
		all.add(d)
	}
	all.say(t)
}

// TestEveryEdge asks for every event, with every option, what becomes of every edge in every
// column.
func TestEveryEdge(t *testing.T) {
	var total tally
	for i := range schema.Events {
		e, dir := &schema.Events[i], t.TempDir()
		path := filepath.Join(dir, "cap.parquet")
		d := tame(uint64(i))
		foreignFile(t, path, [][]edgeRow{everyEvent(d), sweep(d, e)}, d.metadata([]*schema.Event{e}))
		all := append(d.others([]string{path}, dir), askers(e, path, i == 0)...)
		d.askAll(t, all, dir, "event "+e.Name)
		total.add(d)
	}
	if total.say(t); total.answered != total.asked {
		t.Error("files whose every fault is a value are refused")
	}
}

// askers asks the analyses that use an event, with each of their options. Those that use every
// event are asked so only once.
func askers(e *schema.Event, path string, first bool) (all [][]string) {
	for n, more := 0, true; more; n++ {
		args := []string{"analyze", path}
		more = false
		for _, a := range analyze.All() {
			needs, uses, err := engine.Needs(a)
			option := optionNo(a, n)
			if used := append(needs, uses...); err != nil || !slices.Contains(used, e.Name) || n > 0 && (option == "" || !first && len(used) > len(schema.Events)/2) {
				continue
			}
			more = true
			if args = append(args, a.Name); a.Arg != "" {
				args = append(args, "0xffff888000001000")
			}
			args = append(args, strings.Fields(option)...)
		}
		if more || n == 0 {
			all = append(all, args)
		}
	}
	return all
}

// TestEdgesOfTime asks everything of files in which all happens at a usual time, and once more at
// an edge.
func TestEdgesOfTime(t *testing.T) {
	var total tally
	for i, ts := range edgeTimes {
		d, dir := tame(uint64(i)), t.TempDir()
		path := filepath.Join(dir, "cap.parquet")
		again := everyEvent(d)
		for _, r := range again {
			r[schema.ColumnIndex("ts_ns")] = parquet.Int64Value(ts)
		}
		foreignFile(t, path, [][]edgeRow{everyEvent(d), again}, d.metadata(allEvents()))
		d.askAll(t, append(d.commands([]string{path}, dir), []string{"analyze", path, "all"}), dir, fmt.Sprintf("time %d", ts))
		total.add(d)
	}
	total.say(t)
}

// TestEdgesOfMetadata asks everything of files that have all events, and any number, name and
// list in what they say about themselves.
func TestEdgesOfMetadata(t *testing.T) {
	const files = 40
	var total tally
	for n := range uint64(files) {
		d, dir := seeded(n), t.TempDir()
		d.wild = 2 + d.n(4)
		path := filepath.Join(dir, "cap.parquet")
		foreignFile(t, path, [][]edgeRow{everyEvent(tame(n))}, d.metadata(allEvents()))
		all := d.commands([]string{path}, dir)
		d.askAll(t, all, dir, fmt.Sprintf("metadata %d", n))
		total.add(d)
	}
	total.say(t)
}

func allEvents() (all []*schema.Event) {
	for i := range schema.Events {
		all = append(all, &schema.Events[i])
	}
	return all
}

// FuzzEdgeValues does the same for as long as it is told: its input steers what is in the file
// and what is asked.
func FuzzEdgeValues(f *testing.F) {
	for i := range uint64(16) {
		seed := make([]byte, 200)
		for j := range seed {
			seed[j] = byte(seeded(i<<8 + uint64(j)).n(256))
		}
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, b []byte) { askEdges(t, newDice(b), "file") })
}

// tally counts files, commands, and those of them that had an answer.
type tally struct{ files, asked, answered int }

func (c *tally) add(d *dice) {
	c.files, c.asked, c.answered = c.files+1, c.asked+d.asked, c.answered+d.answered
}

func (c *tally) say(t *testing.T) {
	t.Logf("%d files, %d commands, %d of them answered", c.files, c.asked, c.answered)
}

// edgePatience is how long a command may take. Those files have a few dozen rows.
const edgePatience = time.Minute

// askEdges makes a file and asks everything of it.
func askEdges(t *testing.T, d *dice, name string) {
	dir := t.TempDir()
	path := filepath.Join(dir, "cap.parquet")
	edgeFile(t, d, path)
	words := []string{path}
	if d.oneIn(10) {
		edgeFile(t, d, filepath.Join(dir, "more.parquet"))
		words = []string{dir}
	}
	d.askAll(t, d.commands(words, dir), dir, name)
}

// askAll runs commands. A file that breaks one is kept.
func (d *dice) askAll(t *testing.T, all [][]string, dir, name string) {
	t.Helper()
	for _, args := range all {
		if err := d.ask(args); err != nil {
			kept := filepath.Join(os.TempDir(), "netrec-"+strings.ReplaceAll(name, " ", "-"))
			_ = os.RemoveAll(kept)
			_ = os.CopyFS(kept, os.DirFS(dir))
			t.Errorf("%s: netrec %s: %v\nit is kept in %s", name, strings.Join(args, " "), err, kept)
			return
		}
	}
}

// commands is everything that takes a file.
func (d *dice) commands(words []string, dir string) [][]string {
	args := slices.Concat([]string{"analyze"}, words, []string{"-f", pick(d, render.Formats)}, d.selection())
	for _, a := range analyze.All() {
		if args = append(args, a.Name); a.Arg != "" {
			args = append(args, fmt.Sprintf("0x%x", d.address()|1<<12))
		}
		args = append(args, d.option(a, dir)...)
	}
	return append(d.others(words, dir), args)
}

// others is what takes a file beside analyze.
func (d *dice) others(words []string, dir string) [][]string {
	all := [][]string{slices.Concat([]string{"report", "-o", filepath.Join(dir, "page.html")}, words, d.selection()),
		append([]string{"sql", pick(d, sql.Names()), "--dialect", pick(d, sql.Dialects())}, words...)}
	for _, to := range targets {
		all = append(all, slices.Concat([]string{"export", "--to", to}, words))
	}
	if d.oneIn(10) {
		all = append(all, slices.Concat([]string{"__complete", "analyze"}, words, []string{"sock", ""}))
	}
	return all
}

// selection is options that choose rows, mostly none.
func (d *dice) selection() []string {
	if !d.oneIn(3) {
		return nil
	}
	return strings.Fields(pick(d, []string{"--from 1s", "--to 1s", "--from 10ms --to 100h", "--pid 7", "--comm curl", "--port 443", "--addr 10.0.0.0/8", "--sock 0xffff888000001000", "--from 2262-04-11T23:47:16Z",
		"--from 00:00:01"}))
}

// option is an option of an analysis, or none.
func (d *dice) option(a *engine.Analysis, dir string) []string {
	if a.Name == "tcpwin" && d.oneIn(2) {
		return []string{"--plot", filepath.Join(dir, pick(d, []string{"win.svg", "win.png"}))}
	}
	return strings.Fields(optionNo(a, d.n(12)))
}

// ask runs a command, and one in a few twice.
func (d *dice) ask(args []string) error {
	d.asked++
	once, err := d.run(args)
	if err != nil {
		return err
	}
	if slices.Contains(args, "json") && len(once) > 0 && !json.Valid(once) {
		return errors.New("what it says is not JSON")
	}
	if !d.oneIn(6) {
		return nil
	}
	d.asked++
	again, err := d.run(args)
	if err == nil && !bytes.Equal(once, again) {
		err = fmt.Errorf("it answers otherwise when asked again:\n%s", firstDifference(once, again))
	}
	return err
}

func firstDifference(a, b []byte) string {
	x, y := bytes.Split(a, []byte("\n")), bytes.Split(b, []byte("\n"))
	for i := range min(len(x), len(y)) {
		if !bytes.Equal(x[i], y[i]) {
			return fmt.Sprintf("%s\n%s", x[i], y[i])
		}
	}
	return fmt.Sprintf("%d and %d lines", len(x), len(y))
}

// run runs a command, which may find fault with the file but not with itself.
func (d *dice) run(args []string) (answer []byte, err error) {
	stuck := time.AfterFunc(edgePatience, func() {
		debug.SetTraceback("all")
		panic(fmt.Sprintf("still running after %s: netrec %s", edgePatience, strings.Join(args, " ")))
	})
	defer stuck.Stop()
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	var out, side bytes.Buffer
	code := run(args, &out, &side)
	if said := side.String(); code == codeBroken || strings.Contains(said, "internal error") {
		return nil, fmt.Errorf("exit code %d: %s", code, said)
	}
	if code == 0 || code == codeNotInFile {
		d.answered++
	}
	if args[0] == "report" && code == 0 {
		return os.ReadFile(args[2])
	}
	return out.Bytes(), nil
}

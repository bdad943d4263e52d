package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"netrec/analyze/engine"
	"netrec/analyze/export"
	"netrec/analyze/scan"
	"netrec/analyze/symbolize"
	"netrec/schema"
)

// exportFlags are the flags of netrec export.
type exportFlags struct {
	to     string
	output string
	events []string
	debug  []string
	memory string
}

// targets are the forms that export knows.
var targets = []string{"arrow", "perfetto", "folded"}

func exportCmd() *cobra.Command {
	var f exportFlags
	cmd := &cobra.Command{
		Use:   "export FILE... --to arrow|perfetto|folded -o OUT",
		Short: "convert a recording for other programs",
		Long: `Write a recording for another program:
  arrow     every row in time order, as an Arrow IPC stream: pyarrow.ipc.open_stream,
            polars.read_ipc_stream
  perfetto  native track events for ui.perfetto.dev and trace_processor: processes and their
            sockets as tracks; TCP states, congestion and held-back data as slices;
            retransmits, drops and resets as instants; the congestion window as a counter
  folded    one line per stack with its count, for flamegraph.pl and inferno

Name files as for netrec analyze; all of them must belong to one recording.

Exit codes: 0 written; 1 wrong usage, or writing stopped early; 2 the recording could not
be opened; 4 netrec crashed on it, which is a bug; 5 only the first part was written,
because the rest did not fit into --memory.`,
		Example: `  netrec export cap.parquet --to arrow -o cap.arrows
  netrec export cap.parquet --to perfetto -o cap.pftrace
  netrec export cap.parquet --to folded --event skb_drop | flamegraph.pl > drops.svg`,
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: completeFiles,
		RunE:              func(c *cobra.Command, args []string) error { return f.run(args, c.OutOrStdout(), c.ErrOrStderr()) },
	}
	fl := cmd.Flags()
	fl.StringVar(&f.to, "to", "", strings.Join(targets, ", "))
	fl.StringVarP(&f.output, "output", "o", "", "file to write, instead of standard output; must not exist")
	fl.StringSliceVarP(&f.events, "event", "e", nil, "only these events (arrow, folded)")
	fl.StringArrayVar(&f.debug, "symbols", nil, "folder with debug files, to name frames of stripped programs by build id (arrow, folded)")
	fl.StringVar(&f.memory, "memory", "", memoryDoc())
	_ = cmd.MarkFlagDirname("symbols")
	completeFlags(cmd, map[string]completer{"to": func(string) []cobra.Completion { return slices.Clone(targets) }, "event": completeEvents})
	return cmd
}

func (f *exportFlags) run(args []string, out, side io.Writer) (err error) {
	if err := f.check(); err != nil {
		return err
	}
	files, err := debugFiles(strings.Join(f.debug, string(filepath.ListSeparator)))
	if err != nil {
		return err
	}
	r, err := openOne(args, f.output, f.memory)
	if err != nil {
		return err
	}
	defer r.Close()
	defer spare(r)()
	if f.output != "" {
		w, err := os.OpenFile(f.output, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return err
		}
		defer func() {
			closed := w.Close()
			if closed != nil || err != nil && !errors.Is(err, exitCode(codePart)) {
				os.Remove(f.output)
			}
			err = errors.Join(err, closed)
		}()
		out = w
	}
	for _, p := range r.Meta().Problems {
		say(side, errors.New(p))
	}
	watched, out, side := watch(out, side)
	src := symbolize.New(watched(r), files)
	tally := src.Tally()
	src.Follow(tally)
	full, err := scan.Fitted(engine.Contain("export", func() error { return f.write(src, out, side) }))
	if err != nil {
		return err
	}
	for _, n := range tally.Notes() {
		say(side, errors.New(n))
	}
	if full != nil {
		return partly(side, "export", r, full)
	}
	return nil
}

func (f *exportFlags) check() error {
	known := false
	for _, t := range targets {
		known = known || t == f.to
	}
	if !known {
		hint := didYouMean(f.to, targets)
		return hinted{fmt.Errorf("--to %q: want one of %s", f.to, strings.Join(targets, ", ")), hint}
	}
	if f.to == "perfetto" && len(f.events) > 0 {
		return errors.New("--event: works with --to arrow and --to folded; a Perfetto trace has a fixed set of events")
	}
	for _, e := range f.events {
		if schema.ByName(e) == nil {
			var names []string
			for i := range schema.Events {
				names = append(names, schema.Events[i].Name)
			}
			return hinted{fmt.Errorf("--event %s: no such event", e), didYouMean(e, names)}
		}
	}
	return nil
}

func (f *exportFlags) write(src scan.Source, out, side io.Writer) error {
	var err error
	switch f.to {
	case "arrow":
		err = export.Arrow(src, f.events, out)
	case "perfetto":
		err = export.Perfetto(src, out)
	default:
		var bare int64
		if bare, err = export.Folded(src, f.events, out); bare > 0 {
			fmt.Fprintf(side, "netrec: left out %s rows without a stack\n", engine.Thousands(bare))
		}
	}
	if err != nil {
		return fmt.Errorf("export: %w", err)
	}
	return nil
}

// openOne opens files that must be of one recording, and none of them the output.
func openOne(words []string, output, memory string) (*scan.Recording, error) {
	all, err := openSet(words, output, memory, 1)
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

// openSet opens the recordings that the words name, and reads what they say of themselves. They are in
// the order in which they began.
func openSet(words []string, output, memory string, most int) ([]*scan.Recording, error) {
	limits, err := reading(memory)
	if err != nil {
		return nil, err
	}
	paths, err := expand(words)
	if err != nil {
		return nil, err
	}
	if err := apart(output, paths); err != nil {
		return nil, err
	}
	all, bad := scan.OpenAll(paths, limits)
	if len(bad) > 0 {
		return nil, unreadable{bad[0]}
	}
	if len(all) > most {
		return nil, tooMany(all, most)
	}
	for _, r := range all {
		if err := r.Load(); err != nil {
			return nil, unreadable{err}
		}
	}
	slices.SortStableFunc(all, func(a, b *scan.Recording) int { return cmp.Compare(a.Meta().Start(), b.Meta().Start()) })
	return all, nil
}

// tooMany says of which recordings the files are.
func tooMany(all []*scan.Recording, most int) error {
	var names []string
	for _, r := range all[:2] {
		if err := r.Load(); err != nil {
			return unreadable{err}
		}
		origin := originOf(r)
		names = append(names, origin.Label())
		r.Close()
	}
	want := "one"
	if most > 1 {
		want = fmt.Sprintf("at most %d", most)
	}
	return hinted{fmt.Errorf("files of %d recordings, want %s", len(all), want), "the first are of " + strings.Join(names, " and ")}
}

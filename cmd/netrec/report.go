package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"netrec/analyze"
	"netrec/analyze/engine"
	"netrec/analyze/findings"
	"netrec/analyze/render"
	"netrec/analyze/report"
	"netrec/analyze/scan"
)

// selecting are the options of analyze that choose rows, which report has too.
var selecting = []string{"from", "to", "pid", "comm", "port", "addr", "sock"}

// mostRecordings is how many one page is about: more are not looked at side by side.
const mostRecordings = 16

func reportCmd() *cobra.Command {
	var out string
	var thresholds []string
	c := &cobra.Command{
		Use:   "report FILE...",
		Short: "write one HTML page about a recording, or several",
		Long: `Write one HTML page about a recording: what looks wrong, where the time went, a timeline,
the busiest and the worst sockets with their events and windows, latencies as histograms
and over time, drops by reason, losses and cost. Each chart names the command that prints its numbers.

The page is a single file and loads nothing from the network, so you can send it to
others. Like the recording, it contains addresses and names of processes and hosts.

Name files as for netrec analyze. Several recordings of one incident, such as those of a
client and its server, get one page (16 at most): all findings, the worst first, and all charts on one
time axis; each row says of which recording it is. Clocks of hosts are taken as they are.

Exit codes: 0 written; 1 wrong usage, or the page could not be written; 2 the recording
could not be read; 4 netrec crashed on it, which is a bug; 5 the page covers only the
first part, because the rest did not fit into --memory.`,
		Example: `  netrec report cap.parquet
  netrec report cap.parquet -o web.html --port 443
  netrec report cap.parquet --threshold slow-dns=200ms
  netrec report client.parquet server.parquet -o incident.html`,
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: completeFiles,
		RunE: func(c *cobra.Command, args []string) error {
			return runReport(c, args, out, thresholds)
		},
	}
	c.Flags().StringVarP(&out, "output", "o", "", "file to write (default the recording's name with .html)")
	c.Flags().StringSliceVar(&thresholds, "threshold", nil, findings.ThresholdOption().Doc)
	for _, o := range engine.Global {
		if slices.Contains(selecting, o.Name) {
			c.Flags().StringP(o.Name, o.Short, "", o.Doc)
		}
	}
	c.Flags().String("memory", "", memoryDoc())
	completeFlags(c, map[string]completer{"threshold": func(string) []cobra.Completion { return findings.ThresholdOption().Choices }})
	_ = c.RegisterFlagCompletionFunc("sock", func(_ *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return addresses(engine.Request{Files: args}, analyze.Find("sock"), typed)
	})
	return c
}

func runReport(c *cobra.Command, files []string, path string, thresholds []string) error {
	for _, t := range thresholds {
		if err := findings.CheckThreshold(t); err != nil {
			return fmt.Errorf("option --threshold: %w", err)
		}
	}
	if path == "" {
		path = strings.TrimSuffix(filepath.Base(files[0]), filepath.Ext(files[0])) + ".html"
	}
	all, err := openSet(files, path, c.Flag("memory").Value.String(), mostRecordings)
	if err != nil {
		return err
	}
	f := all[0] // the first to begin: times that were typed count from its start
	defer spare(f)()
	chosen, words := map[string]string{}, []string(nil)
	for _, name := range selecting {
		if v := c.Flag(name); v.Changed {
			chosen[name] = v.Value.String()
			words = append(words, "--"+name+" "+render.ShellWord(chosen[name]))
		}
	}
	sel, err := engine.NewSelection(f.Meta(), chosen)
	if err != nil {
		return err
	}
	// The page is written whole or not at all.
	var page bytes.Buffer
	watched, stdout, side := watch(c.OutOrStdout(), c.ErrOrStderr())
	var srcs []scan.Source
	for _, r := range all {
		defer r.Close()
		nameAll(r, files)
		srcs = append(srcs, watched(r))
	}
	full, err := scan.Fitted(engine.Contain("report", func() error {
		return report.Write(srcs, report.Options{Selection: sel, Selected: words, Thresholds: strings.Join(thresholds, ",")}, &page)
	}))
	if err != nil {
		return unreadable{err}
	}
	if err := os.WriteFile(path, page.Bytes(), 0o600); err != nil {
		return fmt.Errorf("write the page: %w", err)
	}
	_, err = fmt.Fprintf(stdout, "%s: %s bytes; open it in a browser\n", render.Safe(path), engine.Thousands(int64(page.Len())))
	if err == nil && full != nil {
		return partly(side, "report", f, full)
	}
	return err
}

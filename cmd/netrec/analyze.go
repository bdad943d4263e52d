package main

import (
	"cmp"
	"io"
	"os"

	"github.com/spf13/cobra"

	"netrec/analyze"
	"netrec/analyze/engine"
)

// Exit codes of analyze beyond 0 for an answer and 1 for usage and output.
const (
	codeUnreadable = 2 // the recording cannot be read
	codeNotInFile  = 3 // it lacks the events of an analysis
	codeBroken     = 4 // netrec itself broke on it
	codePart       = 5 // memory did not suffice for all of it
)

func analyzeCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "analyze FILE... [ANALYSIS [options]]...",
		Short: "answer questions from a recording",
		Long: `Answer from a recording what the classic tools would have shown. Without the name of an
analysis, show what looks wrong and what is in the file. Several analyses in one call
share one pass over the file; options after a name belong to that analysis. The name all
stands for every analysis that needs no argument.

FILE can also be a directory, which stands for every *.parquet below it, or a quoted
pattern. Files of one recording are read as one, in time order. Recordings of other
hosts or boots get separate answers, each under its host's name; formats for programs
have it in the column recorded_on. Unreadable files are reported; the rest are analyzed.
To read a file with the name of an analysis, write ./tcplife.

On a terminal, text fits the screen: tables come before long lists, failures before
successes, and a line says how many rows were left out. --all, or an analysis's --top,
prints them, through a pager: NETREC_PAGER, PAGER or less. In a pipe or a file text is
whole and in time order, without a pager; only the overview is one screen everywhere.

Each answer starts with its limits: losses, missing hooks, older sockets. In text, these
lines start with #. csv, ndjson and arrow print them on standard error; json has them in
the answer.

An answer can have several tables. csv prints the main one and names the others on standard
error; --table selects one, --list-tables lists them. The other formats have all tables.

Analyses:
` + engine.List(analyze.All()) + `
Options:
` + engine.GlobalHelp() + `
Exit codes: 0 answered; 1 wrong usage, or the output could not be written; 2 a recording
could not be read; 3 a recording does not have the events of an analysis you asked for; 4
an analysis crashed, which is a bug in netrec; 5 an answer covers only the first part of
a recording, because the rest did not fit into --memory.`,
		Example: `  netrec analyze cap.parquet
  netrec analyze cap.parquet tcplife --port 443
  netrec analyze cap.parquet sock 0xffff888012345678
  netrec analyze cap.parquet socksize --stats tcplife -f json
  netrec analyze captures/ tcpretrans
  netrec analyze 'captures/dt=2026-11-*/host=web*' tcplife -f csv
  netrec analyze --list
  netrec analyze cap.parquet tcplife --help`,
		// Which options exist depends on the analyses named, so engine.Parse reads them.
		DisableFlagParsing: true,
		ValidArgsFunction:  completeAnalyze,
		RunE:               runAnalyze,
	}
}

func runAnalyze(c *cobra.Command, args []string) error {
	req, err := engine.Parse(analyze.All(), analyze.Find("overview"), args)
	if err != nil {
		return err
	}
	switch {
	case req.Options["list"] == "true":
		return paged(pages(req), c.OutOrStdout(), c.ErrOrStderr(), func(out, _ io.Writer) error {
			_, err := io.WriteString(out, engine.List(analyze.All()))
			return err
		})
	case req.Options["help"] == "true" || len(args) == 0:
		return helpAnalyze(c, req)
	case len(req.Files) == 0:
		return &engine.UsageError{Msg: "analyze: no file given", Meant: "netrec analyze FILE shows what is in a recording"}
	}
	return answerFiles(c, req)
}

// answerFiles answers a request about the files that it names.
func answerFiles(c *cobra.Command, req engine.Request) error {
	paths, err := expand(req.Files)
	if err != nil {
		return err
	}
	for _, path := range outputs(req) {
		if err := apart(path, paths); err != nil {
			return err
		}
	}
	out := c.OutOrStdout()
	if path := req.Options["output"]; path != "" {
		w, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
		if err != nil {
			return err
		}
		defer w.Close()
		out = w
	}
	return paged(pages(req), out, c.ErrOrStderr(), func(to, side io.Writer) error {
		return answer(paths, req, terminalOf(out), to, side)
	})
}

// pages reports whether an answer is for a pager: text that somebody reads.
func pages(req engine.Request) bool {
	return cmp.Or(req.Options["format"], "text") == "text" && req.Options["no-pager"] != "true"
}

// outputs are the files that a request writes.
func outputs(req engine.Request) []string {
	paths := []string{req.Options["output"]}
	for _, c := range req.Calls {
		paths = append(paths, c.Options["plot"])
	}
	return paths
}

func helpAnalyze(c *cobra.Command, req engine.Request) error {
	if len(req.Calls) == 0 {
		return c.Help()
	}
	for _, call := range req.Calls {
		s, err := engine.Help(call.Analysis)
		if err != nil {
			return err
		}
		if _, err := io.WriteString(c.OutOrStdout(), s); err != nil {
			return err
		}
	}
	return nil
}

// unreadable is an error of the recording itself.
type unreadable struct{ error }

func (u unreadable) Unwrap() error { return u.error }
func (unreadable) ExitCode() int   { return codeUnreadable }

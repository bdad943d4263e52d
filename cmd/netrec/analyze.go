package main

import (
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"netrec/analyze"
	"netrec/analyze/engine"
	"netrec/analyze/render"
	"netrec/analyze/scan"
)

// Exit codes of analyze beyond 0 for an answer and 1 for usage and output.
const (
	codeUnreadable = 2 // the recording cannot be read
	codeNotInFile  = 3 // it lacks the events of an analysis
)

func analyzeCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "analyze FILE [ANALYSIS [options]]...",
		Short: "answer questions from a recording",
		Long: `Answers from a recording what the classic tools would have shown. Without the name
of an analysis it says what is in the file. Several analyses in one call share one
pass over the file; options after a name belong to that analysis. The name all stands
for every analysis that needs no argument.

Each answer starts with what limits it: losses, missing hooks, older sockets. In
text these are lines that begin with #; csv, ndjson and arrow have them on standard
error, json has them in the answer.

Analyses:
` + engine.List(analyze.All()) + `
Options:
` + engine.GlobalHelp() + `
Exit codes: 0 answered; 1 wrong usage, or the output could not be written; 2 the
recording cannot be read; 3 it lacks the events of an analysis that was asked for.`,
		Example: `  netrec analyze cap.parquet
  netrec analyze cap.parquet tcplife --port 443
  netrec analyze cap.parquet sock 0xffff888012345678
  netrec analyze cap.parquet socksize --stats tcplife -f json
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
		_, err := io.WriteString(c.OutOrStdout(), engine.List(analyze.All()))
		return err
	case req.Options["help"] == "true" || req.File == "" && len(args) == 0:
		return helpAnalyze(c, req)
	case req.File == "":
		return &engine.UsageError{Msg: "analyze: no file given", Meant: "netrec analyze FILE says what is in a recording"}
	}
	f, err := scan.Open(req.File, scan.Options{})
	if err != nil {
		return unreadable{err}
	}
	defer f.Close()
	out := c.OutOrStdout()
	if path := req.Options["output"]; path != "" {
		w, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
		if err != nil {
			return err
		}
		defer w.Close()
		out = w
	}
	return answer(f, req, out, c.ErrOrStderr())
}

// answer runs the analyses and turns what they lack into an exit code.
func answer(f *scan.File, req engine.Request, out, side io.Writer) error {
	sel, err := engine.NewSelection(f.Meta(), req.Options)
	if err != nil {
		return err
	}
	format, style := req.Options["format"], render.Bpftrace
	if format == "" {
		format = "text"
	}
	if req.Options["look"] == "bcc" {
		style = render.BCC
	}
	src, out, side := watch(f, out, side)
	o, err := render.NewOutput(format, style, out, side)
	if err != nil {
		return err
	}
	outcomes, err := engine.Run(src, req.Calls, sel, o)
	// What was answered before the recording turned out to be unreadable is shown.
	if werr := o.Close(); werr != nil {
		return fmt.Errorf("write the answer: %w", werr)
	}
	if err != nil {
		return unreadable{err}
	}
	for i, oc := range outcomes {
		if oc.Status != engine.Answered && !req.Calls[i].Implied {
			return exitCode(codeNotInFile)
		}
	}
	return nil
}

func helpAnalyze(c *cobra.Command, req engine.Request) error {
	if len(req.Calls) == 0 {
		a := analyze.Find(req.File)
		if a == nil {
			return c.Help()
		}
		req.Calls = []engine.Call{{Analysis: a}}
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

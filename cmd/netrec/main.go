package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"netrec/analyze/engine"
	"netrec/analyze/render"
	"netrec/record/hook"
	"netrec/record/place"
	"netrec/record/priv"
	"netrec/record/reader"
)

func main() {
	priv.Init()   // does not return in the stub that starts a command for record
	reader.Init() // nor this in the process that reads files of others
	hook.Init()   // nor this in the helper of record --dns-follow
	place.Init()  // nor this in the keeper of files
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

func run(args []string, stdout, stderr io.Writer) int {
	root := rootCmd()
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.Execute()
	if err == nil {
		return 0
	}
	var silent exitCode
	if errors.As(err, &silent) {
		return int(silent)
	}
	complain(stderr, "netrec: ", err.Error())
	var h interface{ Hint() string }
	if errors.As(err, &h) && h.Hint() != "" {
		complain(stderr, "netrec: hint: ", h.Hint())
	}
	return int(codeFor(err))
}

// complain writes what ends the program. Names of files that nobody typed may hold anything, so
// that nothing in it steers a terminal. Errors that were joined have a line each, set in: no
// name passes for a message.
func complain(w io.Writer, head, text string) {
	b := []byte(head)
	for i, line := range strings.Split(text, "\n") {
		if i > 0 {
			b = append(b, "  "...)
		}
		b = append(render.AppendSafe(b, line), '\n')
	}
	w.Write(b)
}

// codeFor is the exit code of an error. One of netrec's own is never the recording's fault.
func codeFor(err error) exitCode {
	var b *engine.Broken
	var c interface{ ExitCode() int }
	switch {
	case errors.As(err, &b):
		return codeBroken
	case errors.As(err, &c):
		return exitCode(c.ExitCode())
	}
	return 1
}

// exitCode ends the program with a code and no words, because they were said.
type exitCode int

func (e exitCode) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

// hinted adds a second line to an error.
type hinted struct {
	error
	hint string
}

func (h hinted) Hint() string  { return h.hint }
func (h hinted) Unwrap() error { return h.error }

// privileged is the annotation of commands that use the capabilities which the binary may
// have; all others give them up first.
const privileged = "privileged"

func rootCmd() *cobra.Command {
	root := &cobra.Command{
		Use:   "netrec",
		Short: "record what the network stack does, ask about it later",
		Long: `netrec records what the Linux network stack does into one Parquet file, with small
eBPF probes. Later, on any machine, it answers from that file what tools such as
tcplife, tcpwin or skblife would have shown at the time.`,
		Example: `  netrec demo                              # see it work, in a namespace of its own
  netrec record -t 60s -o cap.parquet      # as root, on the host in question
  netrec analyze cap.parquet               # anywhere: what is in here?
  netrec analyze cap.parquet tcplife       # what the classic tool would have shown
  netrec report cap.parquet                # everything on one HTML page`,
		SilenceUsage: true, SilenceErrors: true,
		Version: version,
		Args:    noSuchCommand,
		RunE:    func(c *cobra.Command, _ []string) error { return c.Help() },
		PersistentPreRunE: func(c *cobra.Command, _ []string) error {
			if c.Annotations[privileged] != "" {
				return nil
			}
			return priv.Renounce()
		},
	}
	root.SetFlagErrorFunc(flagError)
	root.AddCommand(recordCmd(), probesCmd(), analyzeCmd(), dumpCmd(), reportCmd(), sqlCmd(), exportCmd(), demoCmd(), versionCmd(), manCmd())
	return root
}

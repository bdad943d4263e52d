package main

import (
	"strings"

	"github.com/spf13/cobra"

	"netrec/analyze"
	"netrec/analyze/engine"
)

func dumpCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "dump FILE... [options]",
		Short: "print rows of a recording as text",
		Long: `Print the rows of a recording, one line each, in time order: the time since the start, the
event, and each column that is set as name=value. Values with unusual characters are in
single quotes. The options that select are those of netrec analyze; a time can be pasted into
--from and --to. docs/columns.md explains the columns.

Options:
` + engine.OptionsHelp(analyze.Dump.Options) + engine.GlobalHelp() + `
Events:
` + lines(strings.Split(eventList(), " "), 78),
		Example: `  netrec dump cap.parquet | less
  netrec dump cap.parquet --event tcp_state,tcp_reset --port 443
  netrec dump cap.parquet --event tcp_reset --column laddr,lport,raddr,rport,dir,state
  netrec dump cap.parquet --sock 0xffff888012345678 --from 1.395 --to 1.402
  netrec dump cap.parquet --pid 4425 -f ndjson`,
		DisableFlagParsing: true,
		ValidArgsFunction: func(_ *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
			return completeWords(engine.Complete(nil, &analyze.Dump, args, typed), args, typed)
		},
		RunE: func(c *cobra.Command, args []string) error {
			req, err := engine.Parse(nil, &analyze.Dump, args)
			if err != nil {
				return err
			}
			switch {
			case req.Options["help"] == "true" || len(args) == 0:
				return c.Help()
			case len(req.Files) == 0:
				return &engine.UsageError{Msg: "dump: no file given", Meant: "netrec dump FILE prints the rows of a recording"}
			}
			return answerFiles(c, req)
		},
	}
}

// eventList is the events in words.
func eventList() string { return strings.Join(analyze.Dump.Options[0].Choices, " ") }

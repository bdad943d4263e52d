package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"netrec/analyze"
	"netrec/analyze/engine"
	"netrec/analyze/sql"
)

// hiveGlob is where the recordings of several days and hosts are, below their folder.
const hiveGlob = "dt=*/host=*/*.parquet"

func sqlCmd() *cobra.Command {
	var dialect string
	cmd := &cobra.Command{
		Use:   "sql ANALYSIS [FILE|GLOB|FOLDER]",
		Short: "print an analysis as SQL, for DuckDB, ClickHouse or Spark",
		Long: `Print an analysis as SQL, to run in a database that holds many recordings. The columns
are those of netrec analyze -f json, as far as SQL can compute them. Summaries, notes and
limits of the answer (losses, missing hooks) are only in netrec analyze.

A path with wildcards, or a folder of ` + hiveGlob + `, stands for several recordings.
The column on_host keeps them apart, by the folder host=… or otherwise by file. All files
of one host count as one recording, even after a reboot.

Analyses:
` + lines(sql.Names(), 78),
		Example: `  netrec sql tcplife cap.parquet | duckdb
  netrec sql skbdrop --dialect clickhouse '/caps/*.parquet' | clickhouse local
  netrec sql tcpretrans --dialect spark /caps > retrans.sql`,
		Args: cobra.RangeArgs(1, 2),
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) == 0 {
				return sql.Names(), cobra.ShellCompDirectiveNoFileComp
			}
			return nil, cobra.ShellCompDirectiveDefault
		},
		RunE: func(c *cobra.Command, args []string) error {
			text, err := analysisSQL(args, dialect)
			if err != nil {
				return err
			}
			_, err = io.WriteString(c.OutOrStdout(), text)
			return err
		},
	}
	cmd.Flags().StringVar(&dialect, "dialect", sql.Dialects()[0], "one of "+strings.Join(sql.Dialects(), ", "))
	_ = cmd.RegisterFlagCompletionFunc("dialect", cobra.FixedCompletions(sql.Dialects(), cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// lines are words in lines of a width, for help.
func lines(words []string, width int) string {
	var b strings.Builder
	for at, w := 0, 0; w < len(words); w++ {
		if at += len(words[w]) + 2; at > width {
			b.WriteByte('\n')
			at = len(words[w]) + 2
		}
		b.WriteString("  " + words[w])
	}
	return b.String()
}

// analysisSQL is what netrec sql prints for its arguments: a name and maybe a path.
func analysisSQL(args []string, dialect string) (string, error) {
	if !slices.Contains(sql.Dialects(), dialect) {
		return "", usage(fmt.Sprintf("no dialect %q", dialect), engine.Suggest(dialect, sql.Dialects()), "dialects: "+strings.Join(sql.Dialects(), ", "))
	}
	name := args[0]
	if a := analyze.Find(name); a != nil {
		name = a.Name
	}
	if !slices.Contains(sql.Names(), name) {
		help := "netrec sql --help lists the analyses that are"
		if analyze.Find(name) != nil {
			return "", usage(fmt.Sprintf("analysis %s is not written in SQL", name), "", help)
		}
		return "", usage(fmt.Sprintf("no analysis %q", name), engine.Suggest(name, sql.Names()), help)
	}
	path, many := "cap.parquet", false
	if len(args) > 1 {
		path = args[1]
		many = strings.ContainsAny(path, "*?[{")
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			path, many = filepath.Join(path, hiveGlob), true
		}
	}
	return sql.Query(name, dialect, path, many), nil
}

// usage is a mistake in the command line, with the name that was meant or what else helps.
func usage(msg, near, help string) error {
	if near != "" {
		help = "did you mean " + near + "?"
	}
	return &engine.UsageError{Msg: msg, Meant: help}
}

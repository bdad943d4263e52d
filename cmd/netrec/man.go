package main

import (
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"netrec/analyze"
	"netrec/analyze/engine"
	"netrec/schema"
)

func manCmd() *cobra.Command {
	return &cobra.Command{
		Use: "man DIR", Short: "write the manual pages into a folder", Hidden: true, Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			pages, err := manPages(c.Root())
			if err != nil {
				return err
			}
			for _, name := range sortedKeys(pages) {
				if err := os.WriteFile(filepath.Join(args[0], name), pages[name].bytes(), 0o644); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

// manPages are the manual by file name: a page for each command, one with all
// analyses, one of the file.
func manPages(root *cobra.Command) (map[string]*page, error) {
	root.InitDefaultCompletionCmd()
	pages := map[string]*page{"netrec.5": filePage()}
	var err error
	if pages["netrec-analyses.7"], err = analysesPage(); err != nil {
		return nil, err
	}
	top := commandPage("netrec", root)
	top.section("Commands")
	for _, c := range root.Commands() {
		if c.IsAvailableCommand() && c.Name() != "help" {
			name := "netrec-" + c.Name()
			pages[name+".1"] = commandPage(name, c)
			top.macro("TP")
			top.reference(name, "1", "")
			top.text(c.Short)
		}
	}
	pages["netrec.1"] = top
	for name, p := range pages {
		p.also(name)
	}
	return pages, nil
}

func commandPage(name string, c *cobra.Command) *page {
	p := newPage(name, "1", c.Short)
	p.section("Synopsis")
	use := c.UseLine()
	if !c.HasParent() {
		use += " command [flags]"
	}
	p.bold(use)
	p.section("Description")
	long := c.Long
	if long == "" {
		long = c.Short
	}
	p.prose(long)
	if c.LocalFlags().HasAvailableFlags() {
		p.section("Options")
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if f.Hidden {
				return
			}
			kind, usage := pflag.UnquoteUsage(f)
			flag := "--" + f.Name
			if f.Shorthand != "" {
				flag = "-" + f.Shorthand + ", " + flag
			}
			if f.DefValue != "" && f.DefValue != "[]" && f.DefValue != "false" && f.DefValue != "0" && f.DefValue != "0s" {
				usage += " (default " + f.DefValue + ")"
			}
			p.item(strings.TrimSpace(flag+" "+kind), usage)
		})
	}
	if c.Example != "" {
		p.section("Examples")
		p.asIs(c.Example)
	}
	return p
}

// analysesPage has the help of every analysis.
func analysesPage() (*page, error) {
	p := newPage("netrec-analyses", "7", "what netrec analyze can answer")
	p.section("Description")
	p.prose("Run an analysis with\n\n  netrec analyze FILE NAME [options]\n\nThe answer starts with its limits.")
	p.section("Options of every analysis")
	p.asIs(engine.GlobalHelp())
	group := ""
	for _, a := range analyze.All() {
		if a.Group != group {
			group = a.Group
			p.section(group)
		}
		events, err := engine.EventsHelp(a)
		if err != nil {
			return nil, err
		}
		p.subsection(a.Name + ": " + a.Question)
		p.prose(engine.OwnHelp(a) + "\n" + events)
	}
	return p, nil
}

// filePage has the columns of the file.
func filePage() *page {
	p := newPage("netrec", "5", "columns of a recording")
	p.section("Description")
	p.prose("A recording is a Parquet file with one table, one row for each event. The first twelve columns are in every row. " +
		"The others are NULL where an event does not fill them.")
	p.section("Columns")
	for _, c := range schema.Columns {
		doc := c.Doc
		if c.Unit != "" {
			doc += " (" + c.Unit + ")"
		}
		if !c.Required {
			doc += "; in " + strings.Join(c.Events, ", ")
		}
		p.item(c.Name+" "+c.Type.String(), doc)
	}
	p.section("Events")
	for _, e := range schema.Events {
		p.item(e.Name, e.Doc)
	}
	return p
}

// manDate is the date of the sources, so that pages of one commit are the same.
func manDate() string {
	if s, err := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64); err == nil {
		return time.Unix(s, 0).UTC().Format(time.DateOnly)
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if t, err := time.Parse(time.RFC3339, s.Value); s.Key == "vcs.time" && err == nil {
				return t.UTC().Format(time.DateOnly)
			}
		}
	}
	return time.Now().UTC().Format(time.DateOnly)
}

// also names the other pages at the end of one.
func (p *page) also(file string) {
	p.section("See also")
	others := slices.DeleteFunc([]string{"netrec.1", "netrec-record.1", "netrec-analyze.1", "netrec.5", "netrec-analyses.7"},
		func(name string) bool { return name == file })
	for i, name := range others {
		page, section, _ := strings.Cut(name, ".")
		p.reference(page, section, strings.Repeat(",", min(1, len(others)-1-i)))
	}
}

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"slices"

	"github.com/spf13/cobra"

	"netrec/analyze"
	"netrec/bpf"
	"netrec/schema"
)

// version is set by the build.
var version = "devel"

// buildFacts is what the program knows about how it was made.
type buildFacts struct {
	Version  string `json:"version"`
	Commit   string `json:"commit,omitempty"` // of the sources; empty if they were not in git
	Time     string `json:"commit_time,omitempty"`
	Modified bool   `json:"modified"` // the sources were not those of the commit
	Go       string `json:"go"`
	OS       string `json:"os"`
	Arch     string `json:"arch"`

	Probes struct {
		Object string `json:"object"`
		SHA256 string `json:"sha256"`
	} `json:"probes"`
	Format   int `json:"format"` // of the files it writes, netrec.format in their footers
	Events   int `json:"events"`
	Columns  int `json:"columns"`
	Analyses int `json:"analyses"`

	Dependencies []dependency `json:"dependencies"`
}

// dependency is a module that is in the binary.
type dependency struct {
	Path    string `json:"path"`
	Version string `json:"version"`
	Sum     string `json:"sum,omitempty"`
}

func facts() buildFacts {
	b := buildFacts{Version: version, Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH, Format: schema.FormatVersion,
		Events: len(schema.Events), Columns: len(schema.Columns), Analyses: len(analyze.All()), Dependencies: []dependency{}}
	b.Probes.Object, b.Probes.SHA256 = bpf.Object()
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.time":
			b.Time = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		b.Dependencies = append(b.Dependencies, dependency{m.Path, m.Version, m.Sum})
	}
	return b
}

func versionCmd() *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use: "version", Short: "print version and build facts",
		Long: `Print the version, the commit and compiler of this build, the checksum of its probes, the
version of the file format it writes, and the modules it contains.`,
		Example: `  netrec version
  netrec version -f json`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			switch format {
			case "text":
				return facts().text(c.OutOrStdout())
			case "json":
				enc := json.NewEncoder(c.OutOrStdout())
				enc.SetIndent("", "  ")
				return enc.Encode(facts())
			}
			return fmt.Errorf("format %q: not one of text, json", format)
		},
	}
	cmd.Flags().StringVarP(&format, "format", "f", "text", "text or json")
	completeFlags(cmd, map[string]completer{"format": func(string) []cobra.Completion { return []cobra.Completion{"text", "json"} }})
	return cmd
}

func (b buildFacts) text(w io.Writer) error {
	commit := b.Commit
	switch {
	case commit == "":
		commit = "unknown: not built from a git checkout"
	case b.Modified:
		commit += ", with changes"
	}
	if b.Time != "" {
		commit += ", " + b.Time
	}
	fmt.Fprintf(w, "netrec %s\n", b.Version)
	for _, line := range [][2]string{
		{"commit", commit},
		{"built", fmt.Sprintf("%s for %s/%s", b.Go, b.OS, b.Arch)},
		{"probes", fmt.Sprintf("%s, sha256 %s", b.Probes.Object, b.Probes.SHA256)},
		{"format", fmt.Sprintf("%d: %d events, %d columns", b.Format, b.Events, b.Columns)},
		{"analyses", fmt.Sprint(b.Analyses)},
	} {
		fmt.Fprintf(w, "  %-9s %s\n", line[0], line[1])
	}
	fmt.Fprintln(w, "modules")
	longest := 0
	if len(b.Dependencies) > 0 {
		longest = len(slices.MaxFunc(b.Dependencies, func(a, b dependency) int { return len(a.Path) - len(b.Path) }).Path)
	}
	for _, d := range b.Dependencies {
		if _, err := fmt.Fprintf(w, "  %-*s %s\n", longest, d.Path, d.Version); err != nil {
			return err
		}
	}
	return nil
}

package main

import (
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"netrec/analyze"
	"netrec/analyze/engine"
	"netrec/record"
	"netrec/schema"
)

// completeAnalyze offers files, analyses, options and their values, and addresses that
// are in the file.
func completeAnalyze(_ *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return completeWords(engine.Complete(analyze.All(), analyze.Find("overview"), args, typed), args, typed)
}

// completeWords offers what engine.Complete found.
func completeWords(c engine.Completion, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	switch {
	case c.AnyFile && len(args) == 0:
		return completeFiles(nil, nil, "")
	case c.AnyFile:
		return nil, cobra.ShellCompDirectiveDefault
	case c.AnyDir:
		return nil, cobra.ShellCompDirectiveFilterDirs
	case c.AddrOf != nil:
		return addresses(c.Request, c.AddrOf, typed)
	}
	directive := cobra.ShellCompDirectiveNoFileComp
	if c.Open {
		directive |= cobra.ShellCompDirectiveNoSpace
	}
	var words []cobra.Completion
	for _, w := range c.Words {
		words = append(words, offer(w.Text, w.Doc))
	}
	return fitting(words, typed), directive
}

// offer is a candidate with its description, if it has one.
func offer(word, doc string) cobra.Completion {
	if doc == "" {
		return word
	}
	return cobra.CompletionWithDesc(word, doc)
}

func fitting(words []cobra.Completion, typed string) []cobra.Completion {
	return slices.DeleteFunc(words, func(w cobra.Completion) bool { return !strings.HasPrefix(w, typed) })
}

// completeFiles offers recordings.
func completeFiles(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return []cobra.Completion{"parquet"}, cobra.ShellCompDirectiveFilterFileExt
}

// completer is what cobra calls for the value of a flag.
type completer func(typed string) []cobra.Completion

// completeFlags registers what is known about the values of flags.
func completeFlags(c *cobra.Command, by map[string]completer) {
	for name, f := range by {
		err := c.RegisterFlagCompletionFunc(name, func(_ *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
			return fitting(f(typed), typed), cobra.ShellCompDirectiveNoFileComp
		})
		if err != nil {
			panic(err) // a flag of another name: every test of the command would show it
		}
	}
}

// completeEvents offers events and groups in a list that may leave some out.
func completeEvents(typed string) []cobra.Completion {
	prefix := typed[:strings.LastIndexByte(typed, ',')+1]
	if strings.HasPrefix(typed[len(prefix):], "-") {
		prefix += "-"
	}
	var words []cobra.Completion
	for _, w := range record.EventWords() {
		doc := "group of events"
		if e := schema.ByName(w); e != nil {
			doc = e.Doc
		}
		words = append(words, offer(prefix+w, doc))
	}
	return words
}

func completeProfiles(string) []cobra.Completion {
	var words []cobra.Completion
	for _, p := range schema.Profiles {
		words = append(words, offer(string(p), profileCost[p]))
	}
	return words
}

// completeHooks offers EVENT=KIND with the kinds that the event's ladder has.
func completeHooks(string) []cobra.Completion {
	var words []cobra.Completion
	for _, e := range schema.Events {
		for _, rung := range e.Ladder {
			for _, h := range rung {
				if w := offer(e.Name+"="+string(h.Kind), ""); !slices.Contains(words, w) {
					words = append(words, w)
				}
			}
		}
	}
	return words
}

// entries offers the names in a folder, after what the flag takes beside them.
func entries(dir string, also ...string) completer {
	return func(string) []cobra.Completion {
		words := slices.Clone(also)
		list, _ := os.ReadDir(dir) // a folder that is not there has no names
		for _, e := range list {
			words = append(words, e.Name())
		}
		return words
	}
}

func completeRecord(c *cobra.Command) {
	states := func(string) []cobra.Completion {
		var words []cobra.Completion
		for _, v := range schema.TCPStates.Values {
			words = append(words, v.Name)
		}
		return words
	}
	completeFlags(c, map[string]completer{
		"events": completeEvents, "profile": completeProfiles, "hook": completeHooks, "tcp-state": states,
		"netns": entries("/run/netns", "self"), "dev": entries("/sys/class/net"),
		"budget":  func(string) []cobra.Completion { return []cobra.Completion{"1%", "2%", "5%"} },
		"packets": func(string) []cobra.Completion { return []cobra.Completion{"1/16", "1/64", "all", "none"} },
		"proto":   func(string) []cobra.Completion { return []cobra.Completion{"tcp", "udp", "icmp", "sctp"} },
	})
}

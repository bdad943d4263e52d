package main

import (
	"strings"

	"github.com/spf13/pflag"

	"netrec/record/filter"
)

// filterHelp is the part of the help that the flags cannot say one by one.
const filterHelp = `Filters choose rows in the kernel. Values of one filter, separated by commas, are alternatives;
a row must pass all filters.
  pid comm          the task, for rows of its own context. Rows of interrupts are always kept:
                    the kernel does not know their owner there (netrec analyze does)
  uid cgroup        the same, but rows of interrupts are judged by the owner of their socket
  port addr proto   the socket's or the packet's; a row that has none is left out
  tcp-state
  netns             of the socket, else of the device, else of the task
  dev               the packet's, or the one that a socket is bound to; other rows are kept
  sample            connections; rows without two addresses and two ports are kept
docs/filters.md says which events are judged by what.
`

// filterFlag is the flag of one filter.
type filterFlag struct {
	words filter.Words
	kind  *filter.Kind
}

// Set adds the values of one use of the flag.
func (f filterFlag) Set(s string) error {
	f.words[f.kind.Name] = append(f.words[f.kind.Name], strings.Split(s, ",")...)
	return nil
}

func (f filterFlag) String() string { return "" }

// Type is what the help shows in place of a value.
func (f filterFlag) Type() string { return f.kind.Value }

func addFilters(fl *pflag.FlagSet, words filter.Words) {
	for i := range filter.Kinds {
		k := &filter.Kinds[i]
		fl.Var(filterFlag{words, k}, k.Name, k.Usage)
	}
}

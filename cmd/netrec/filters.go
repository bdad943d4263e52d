package main

import (
	"strings"

	"github.com/spf13/pflag"

	"netrec/record/filter"
)

// filterHelp is the part of the help that the flags cannot say one by one.
const filterHelp = `Filters select rows in the kernel. One filter can have several values, separated by commas;
one of them must match. A row must pass every filter.
  pid comm          the task that made the row. Rows from interrupts are always kept: the owner
                    is only known later, during analysis
  uid cgroup        the task that made the row; for rows from interrupts, the socket's owner
  port addr proto   the socket's or packet's; rows that have none are left out
  tcp-state
  netns             of the socket, or of the device, or of the task, whichever is known first
  dev               the packet's device, or the one the socket is bound to; other rows are kept
  sample            connections; rows without two addresses and two ports are kept
docs/filters.md says which filter applies to which event.
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

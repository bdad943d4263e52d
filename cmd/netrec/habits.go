package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"netrec/analyze/engine"
)

// habits are flags that people know from other tools, with the words that netrec has for them.
var habits = map[string]map[string]string{
	"record": {
		"w": "-o FILE names the file", "write": "-o FILE names the file",
		"i": "--dev NAME records what passes one device", "interface": "--dev NAME records what passes one device",
		"d": "-t TIME sets how long", "duration": "-t TIME sets how long", "timeout": "-t TIME sets how long",
		"p": "--pid PID records one process",
		"s": "packets are never copied, so there is no length to cut them at",
	},
}

// flagError adds to an unknown flag which one may have been meant.
func flagError(c *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return err
	}
	name := unknown.GetSpecifiedName()
	if hint := habits[c.Name()][name]; hint != "" {
		return hinted{err, hint}
	}
	var names []string
	c.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	if near := engine.Suggest(name, names); near != "" {
		return hinted{err, fmt.Sprintf("did you mean --%s?", near)}
	}
	return hinted{err, c.CommandPath() + " --help lists the flags"}
}

// noSuchCommand refuses arguments of netrec itself, which are mistyped commands.
func noSuchCommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, sub := range c.Commands() {
		names = append(names, sub.Name())
	}
	return hinted{fmt.Errorf("no command %q", args[0]), didYouMean(args[0], names)}
}

// span is a time as people type it: 10 is ten seconds.
type span time.Duration

func (s *span) Set(v string) error {
	d, err := parseTime(v)
	*s = span(d)
	return err
}

// String leaves nought empty, so that help does not call it a default.
func (s *span) String() string {
	if *s == 0 {
		return ""
	}
	return time.Duration(*s).String()
}

func (*span) Type() string { return "duration" }

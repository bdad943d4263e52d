package engine

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// List is the catalogue of analyses, grouped.
func List(all []*Analysis) string {
	var b strings.Builder
	group := ""
	for _, a := range all {
		if a.Group != group {
			if group != "" {
				b.WriteByte('\n')
			}
			group = a.Group
			fmt.Fprintf(&b, "%s\n", group)
		}
		fmt.Fprintf(&b, "  %-16s %s%s\n", strings.TrimSpace(a.Name+" "+a.Arg), a.Question, also(a))
	}
	return b.String()
}

// also lists the other names of an analysis that say something. Its own help lists them all.
func also(a *Analysis) string {
	others := slices.DeleteFunc(names([]*Analysis{a})[1:], numbered)
	if len(others) == 0 {
		return ""
	}
	return " (" + strings.Join(others, ", ") + ")"
}

// numbered tells whether a name is a letter and a number, such as p1 or b11: the place of a
// one-liner in a list that readers of --list do not have at hand.
func numbered(name string) bool {
	_, err := strconv.Atoi(name[1:])
	return err == nil
}

// Help is the help of one analysis, from its declaration.
func Help(a *Analysis) (string, error) {
	needs, err := EventsHelp(a)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s: %s\n\n%s\nOptions of every analysis:\n%s\n%s", a.Name, a.Question, OwnHelp(a), GlobalHelp(), needs), nil
}

// OwnHelp is the part of the help that no other analysis has: usage, text, example, names, options.
func OwnHelp(a *Analysis) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Usage:\n  netrec analyze FILE %s [options]\n", strings.TrimSpace(a.Name+" "+a.Arg))
	if a.Help != "" {
		fmt.Fprintf(&b, "\n%s\n", strings.TrimSpace(a.Help))
	}
	if a.Example != "" {
		fmt.Fprintf(&b, "\nExample:\n  netrec analyze cap.parquet %s\n", a.Example)
	}
	if a.Shown != "" {
		fmt.Fprintf(&b, "\nFrom a recording, in part:\n  %s\n", strings.ReplaceAll(strings.TrimSpace(a.Shown), "\n", "\n  "))
	}
	if len(a.Aliases) > 0 {
		b.WriteString("\nAlso called:\n")
		for _, alias := range a.Aliases {
			name, options, ok := strings.Cut(alias, " ")
			if ok {
				name = fmt.Sprintf("%-16s for %s %s", name, a.Name, options)
			}
			fmt.Fprintf(&b, "  %s\n", name)
		}
	}
	if len(a.Options) > 0 {
		b.WriteString("\nOptions:\n")
		writeOptions(&b, a.Options)
	}
	return b.String()
}

// EventsHelp says which events an analysis reads.
func EventsHelp(a *Analysis) (string, error) {
	needs, uses, err := Needs(a)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	if len(needs) > 0 {
		fmt.Fprintf(&b, "Needs the events: %s\n", strings.Join(needs, ", "))
	}
	if len(uses) > 0 {
		fmt.Fprintf(&b, "Uses if recorded: %s\n", strings.Join(uses, ", "))
	}
	return b.String(), nil
}

// GlobalHelp lists the options that every analysis has.
func GlobalHelp() string {
	return OptionsHelp(Global)
}

// OptionsHelp lists options as the help of an analysis does.
func OptionsHelp(os []Option) string {
	var b strings.Builder
	writeOptions(&b, os)
	return b.String()
}

func writeOptions(b *strings.Builder, os []Option) {
	for _, o := range os {
		name := "    --" + o.Name
		if o.Short != "" {
			name = "-" + o.Short + ", --" + o.Name
		}
		switch {
		case o.Implied != "":
			name += "[=" + o.placeholder() + "]"
		case o.Kind != Flag:
			name += " " + o.placeholder()
		}
		doc := o.Doc
		if o.Kind == Choices || o.Kind == Choice && o.placeholder() == strings.ToUpper(o.Name) {
			doc += ": " + strings.Join(o.Choices, ", ")
		}
		if o.Default != "" && o.Kind != Flag {
			doc += " (default " + o.Default + ")"
		}
		fmt.Fprintf(b, "  %-30s %s\n", name, doc)
	}
}

func (o *Option) placeholder() string {
	switch o.Kind {
	case Number:
		return "N"
	case Choices:
		return "KEYS"
	case Folders:
		return "DIR"
	case Choice:
		// Long lists are in the text beside it.
		if s := strings.Join(o.Choices, "|"); len(s) <= 16 {
			return s
		}
	}
	return strings.ToUpper(o.Name)
}

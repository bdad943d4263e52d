package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
)

// section is a part of the page, with its heading; the page's own beginning has none.
type section struct{ heading, text string }

// renewPage puts the sections in the output of a shorter run into the page.
func renewPage() error {
	out, err := os.ReadFile(*renew)
	if err != nil {
		return err
	}
	page, err := os.ReadFile(pageFile)
	if err != nil {
		return err
	}
	if len(sections(string(out))) < 2 {
		return fmt.Errorf("%s: no table", *renew)
	}
	if err := os.WriteFile(pageFile, []byte(renewed(string(page), string(out))), 0o644); err != nil {
		return err
	}
	return publish()
}

// renewed is the page with the sections of out in place of its own. One that it lacks comes
// behind the one before it in out.
func renewed(page, out string) string {
	list, at := sections(page), 0
	for _, s := range sections(out)[1:] {
		if i := slices.IndexFunc(list, func(l section) bool { return l.heading == s.heading }); i >= 0 {
			list[i], at = s, i
			continue
		}
		at++
		list = slices.Insert(list, at, s)
	}
	var b strings.Builder
	for _, s := range list {
		b.WriteString(s.text)
	}
	return b.String()
}

// sections cuts a page before each heading.
func sections(page string) []section {
	list := []section{{}}
	for line := range strings.Lines(page) {
		if heading, ok := strings.CutPrefix(line, "## "); ok {
			list = append(list, section{heading: strings.TrimSpace(heading)})
		}
		list[len(list)-1].text += line
	}
	return list
}

package main

import (
	"bytes"
	"fmt"
	"strings"
)

// page is a manual page under way, in the macros of man(7).
type page struct {
	b     bytes.Buffer
	fresh bool // a title stands before, and no paragraph is to be opened
}

func newPage(name, section, about string) *page {
	p := &page{}
	fmt.Fprintf(&p.b, ".\\\" Written by netrec man from the commands' own declarations.\n")
	fmt.Fprintf(&p.b, ".TH %s %s %s \"netrec %s\" \"netrec\"\n", roff(strings.ToUpper(name)), section, manDate(), roff(version))
	p.section("Name")
	fmt.Fprintf(&p.b, "%s \\- %s\n", roff(name), roff(about))
	return p
}

func (p *page) bytes() []byte { return p.b.Bytes() }

func (p *page) macro(name string) { fmt.Fprintf(&p.b, ".%s\n", name) }

func (p *page) section(title string)    { p.title("SH", strings.ToUpper(title)) }
func (p *page) subsection(title string) { p.title("SS", title) }

func (p *page) title(macro, text string) {
	fmt.Fprintf(&p.b, ".%s %s\n", macro, roff(text))
	p.fresh = true
}

// paragraph opens one, but not right after a title.
func (p *page) paragraph() {
	if !p.fresh {
		p.macro("PP")
	}
	p.fresh = false
}

func (p *page) bold(s string) { fmt.Fprintf(&p.b, ".B %s\n", roff(s)) }

func (p *page) text(s string) { fmt.Fprintln(&p.b, line(s)) }

// item is a tagged paragraph.
func (p *page) item(tag, text string) {
	p.fresh = false
	fmt.Fprintf(&p.b, ".TP\n.B %s\n%s\n", roff(tag), line(text))
}

// reference names another page; what follows it has no spaces.
func (p *page) reference(name, section, after string) {
	fmt.Fprintf(&p.b, ".BR %s (%s)%s\n", roff(name), section, after)
	p.fresh = false
}

// prose sets paragraphs; those with indented lines stay as they are.
func (p *page) prose(s string) {
	for _, para := range strings.Split(strings.Trim(s, "\n"), "\n\n") {
		para = strings.Trim(para, "\n")
		switch {
		case para == "":
		case strings.HasPrefix(para, "  ") || strings.Contains(para, "\n  "):
			p.asIs(para)
		default:
			p.paragraph()
			for _, l := range strings.Split(para, "\n") {
				fmt.Fprintln(&p.b, line(strings.TrimSpace(l)))
			}
		}
	}
}

// asIs sets lines without filling them.
func (p *page) asIs(s string) {
	p.paragraph()
	p.macro("nf")
	for _, l := range strings.Split(strings.TrimRight(s, "\n"), "\n") {
		if l == "" {
			p.macro("sp")
			continue
		}
		fmt.Fprintln(&p.b, line(strings.TrimRight(l, " ")))
	}
	p.macro("fi")
}

// roff escapes what the formatter would take for its own.
func roff(s string) string {
	return strings.NewReplacer(`\`, `\e`, "-", `\-`, `"`, `\(dq`, "'", `\(aq`, "^", `\(ha`, "~", `\(ti`, "`", `\(ga`, "\t", "    ").Replace(s)
}

// line is a line of text: a dot at its start would be a macro.
func line(s string) string {
	s = roff(s)
	if strings.HasPrefix(s, ".") {
		return `\&` + s
	}
	return s
}

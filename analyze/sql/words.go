package sql

import (
	"fmt"
	"strings"
	"text/template"

	"netrec/analyze/render"
	"netrec/schema"
)

// source is the recordings as the table capture. Of several, on_host is the host that the
// path of the file names, else the file.
func (d *dialect) source(path string, many bool) string {
	from := fmt.Sprintf(d.from, d.quote(path))
	if !many {
		return "capture AS (\n    SELECT * FROM " + from + "\n)"
	}
	host := fmt.Sprintf(d.match, d.path, "host=([^/]+)/")
	return fmt.Sprintf("capture AS (\n    SELECT *, CASE WHEN %s <> '' THEN %s ELSE %s END AS on_host\n    FROM %s\n)",
		host, host, fmt.Sprintf(d.match, d.path, "([^/]+)$"), from)
}

// words are the functions of the templates: first those about the recordings, then those
// of the dialect.
func (d *dialect) words(path string, many bool) template.FuncMap {
	where := func(format string, of ...any) string {
		if !many {
			return ""
		}
		return fmt.Sprintf(format, of...)
	}
	return template.FuncMap{
		"capture": func() string { return d.source(path, many) },
		"host":    func() string { return where("on_host, ") }, // in front of a list of columns
		"hostof":  func(table string) string { return where("%s.on_host AS on_host, ", table) },
		"byhost":  func(table string) string { return where("%s.on_host, ", table) },
		"same":    func(a, b string) string { return where("%s.on_host = %s.on_host AND ", a, b) },
		"each":    func() string { return where("PARTITION BY on_host") },
		"perhost": func() string { return where("GROUP BY on_host") },
		// moved is a condition that holds for calls that moved what they returned: a read with
		// MSG_PEEK leaves it where it is.
		"moved": func(table string) string {
			return fmt.Sprintf("(%sdir = 'send' OR "+d.and+" = 0)", table, "coalesce("+table+"msg_flags, 0)", 2)
		},
		"keys":   func(names ...string) string { return strings.Join(append(names, ""), ", ") },
		"events": events,

		"div":     func(a string, b int) string { return fmt.Sprintf(d.div, a, b) },
		"and":     func(a string, b int) string { return fmt.Sprintf(d.and, a, b) },
		"hex":     func(a string) string { return fmt.Sprintf(d.hex, a) },
		"power":   func(a string) string { return fmt.Sprintf(d.power, a) },
		"first":   func(a, condition string) string { return fmt.Sprintf(d.first, a, condition) },
		"number":  func(column, enum string) string { return number(column, enum, fmt.Sprintf(d.parse, column)) },
		"letters": letters,
		"errno":   func(ret string) string { return errno(ret, d.text) },
		"text":    func() string { return d.text },
		"int":     func() string { return d.whole },
		"name":    func(a string) string { return fmt.Sprintf(d.ident, a) },
		"bits": func(a string) string {
			return fmt.Sprintf("CASE WHEN %s < 0 THEN -1 WHEN %s = 0 THEN 0 ELSE "+d.bits+" END", a, a, a)
		},
		"split": func(a string) string { return fmt.Sprintf(d.split, a) },
		"match": func(a, pattern string) string { return fmt.Sprintf(d.match, a, pattern) },
		"parse": func(a, pattern string) string {
			return fmt.Sprintf(d.parse, fmt.Sprintf(d.match, a, pattern))
		},
		// recorded is a condition that some row fits if an event was asked for and had a hook.
		"recorded": func(event string) string {
			return fmt.Sprintf(`event = '%s' OR event = 'meta' AND `+d.ident+` = 'netrec.hooks' AND value LIKE '{"event":"%s","state":"attached"%%'`, event, "key", event)
		},
		// fact is a number in a JSON object that meta rows have.
		"fact": func(name string) string {
			return fmt.Sprintf(d.parse, fmt.Sprintf(d.match, "value", `"`+name+`":([0-9]+)`))
		},
		// last is the last n frames of a stack.
		"last": func(a string, n int) string {
			return fmt.Sprintf(d.match, a, fmt.Sprintf("((?:[^;]*;){0,%d}[^;]*)$", n-1))
		},
	}
}

// events continues a list of events in quotes.
func events(names ...string) string {
	var b strings.Builder
	for _, n := range names {
		b.WriteString(", '" + n + "'")
	}
	return b.String()
}

// number is the number that a name in an enum of the schema stands for. Values without a
// name are numbers already, which parsed reads.
func number(column, enum, parsed string) string {
	var b strings.Builder
	b.WriteString("CASE " + column)
	for _, v := range schema.Enums[enum].Values {
		fmt.Fprintf(&b, " WHEN '%s' THEN %d", v.Name, v.Value)
	}
	return b.String() + " ELSE " + parsed + " END"
}

// letters shows which names of an enum's bits a column has: a letter or a dot for each.
func letters(column, enum, each string) string {
	var parts []string
	for i, v := range schema.Enums[enum].Values {
		parts = append(parts, fmt.Sprintf("CASE WHEN concat('|', %s, '|') LIKE '%%|%s|%%' THEN '%c' ELSE '.' END", column, v.Name, each[i]))
	}
	return fmt.Sprintf("CASE WHEN %s IS NOT NULL THEN concat(%s) END", column, strings.Join(parts, ", "))
}

// errno is what a call returned as the name of its error, or as a number.
func errno(ret, text string) string {
	var b strings.Builder
	b.WriteString("CASE " + ret)
	names := 0
	for n := range int64(1 << 10) {
		name := render.ErrnoName(n)
		if name == "" {
			continue
		}
		if names++; names%6 == 1 {
			b.WriteString("\n       ")
		}
		fmt.Fprintf(&b, " WHEN %d THEN '%s'", -n, name)
	}
	return b.String() + "\n        ELSE CAST(" + ret + " AS " + text + ") END"
}

package sql

import (
	"embed"
	"io/fs"
	"strings"
	"text/template"
)

//go:embed queries parts
var files embed.FS

// Dialects lists the databases that queries can be written for.
func Dialects() []string {
	names := make([]string, len(dialects))
	for i, d := range dialects {
		names[i] = d.name
	}
	return names
}

// Names lists the analyses that there are queries for.
func Names() []string {
	entries, err := fs.ReadDir(files, "queries")
	if err != nil {
		panic(err) // it is embedded
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = strings.TrimSuffix(e.Name(), ".sql")
	}
	return names
}

// Query is the analysis of a name as SQL over the recordings at a path, "" if there is
// none. With many, the path may have wildcards, and the answer has a column on_host that
// keeps hosts apart: named by a folder host=…, else by the file.
func Query(name, of, path string, many bool) string {
	for _, d := range dialects {
		if d.name != of {
			continue
		}
		text, err := files.ReadFile("queries/" + name + ".sql")
		if err != nil {
			return ""
		}
		return d.write(string(text), path, many)
	}
	return ""
}

// write fills in a query. Its own files are the only input, so that mistakes are found by
// any test that asks for it.
func (d *dialect) write(text, path string, many bool) string {
	t := template.New("").Funcs(d.words(path, many))
	t = template.Must(t.ParseFS(files, "parts/*.sql"))
	t = template.Must(t.New("query").Parse(text))
	var b strings.Builder
	if err := t.Execute(&b, nil); err != nil {
		panic(err)
	}
	return strings.TrimRight(b.String(), "\n") + d.ending + ";\n"
}

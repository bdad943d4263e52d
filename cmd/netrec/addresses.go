package main

import (
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"netrec/analyze"
	"netrec/analyze/engine"
	"netrec/analyze/render"
	"netrec/analyze/scan"
)

// How long somebody who pressed a key may have to wait: rows are read for so long, and
// after the second time nothing is offered, whatever the file is doing.
const (
	completeFor  = 600 * time.Millisecond
	completeMost = 2 * time.Second
)

// addresses offers the kernel addresses that are in the file for the argument of an
// analysis, as the analysis lists them that its declaration names.
func addresses(req engine.Request, of *engine.Analysis, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	// Names are found in the order of their meaning, the busiest first.
	const directive = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	found := make(chan []cobra.Completion, 1)
	go func() { found <- listed(req, of, time.Now().Add(completeFor)) }()
	select {
	case words := <-found:
		return fitting(words, typed), directive
	case <-time.After(completeMost):
		return nil, directive
	}
}

// listed goes through the files while there is time.
func listed(req engine.Request, of *engine.Analysis, until time.Time) (words []cobra.Completion) {
	paths, _ := expand(req.Files) // what is wrong with them, analyze itself says
	for _, path := range paths {
		if time.Now().Before(until) {
			words = append(words, listedIn(path, req, of, until)...)
		}
	}
	return words
}

// listedIn is nil for a file that cannot be read: analyze itself says why.
func listedIn(path string, req engine.Request, of *engine.Analysis, until time.Time) []cobra.Completion {
	f, err := scan.Open(path, scan.Options{})
	if err != nil {
		return nil
	}
	defer f.Close()
	from, err := engine.Parse(analyze.All(), nil, append([]string{path}, strings.Fields(of.ArgFrom)...))
	if err != nil {
		return nil
	}
	sel, err := engine.NewSelection(f.Meta(), req.Options)
	if err != nil {
		return nil
	}
	found := described{column: of.Name, seen: map[string]bool{}}
	out := render.NewValues(render.Taker{Row: found.row})
	if _, err := engine.Run(&hurried{f, until}, from.Calls, sel, out); err != nil || out.Close() != nil {
		return nil
	}
	return found.words
}

// hurried is a source whose scans end at a time, as if nothing came after.
type hurried struct {
	scan.Source
	until time.Time
}

var errEnough = errors.New("enough")

// Scan delivers rows until the time is up.
func (h *hurried) Scan(q scan.Query, f func(*scan.Row) error) error {
	n := 0
	err := h.Source.Scan(q, func(r *scan.Row) error {
		if n++; n&0x3ff == 0 && time.Now().After(h.until) {
			return errEnough
		}
		return f(r)
	})
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}

// described takes the rows that have an address in the column, and says of each what it is.
type described struct {
	column string
	seen   map[string]bool
	words  []cobra.Completion
}

func (d *described) row(t *render.Table) {
	if addr := t.Word(d.column); addr != "" && !d.seen[addr] {
		d.seen[addr] = true
		d.words = append(d.words, offer(addr, description(t)))
	}
}

// description is protocol, ends and owner, or what became of it: whatever the row has.
func description(row *render.Table) string {
	var parts []string
	protocol := row.Word("protocol")
	local, remote := endpoint(row, "l"), endpoint(row, "r")
	switch {
	case local != "" && remote != "":
		parts = append(parts, strings.TrimSpace(protocol+" "+local+" > "+remote))
	case protocol != "" || local != "":
		parts = append(parts, strings.TrimSpace(protocol+" "+local))
	}
	if comm := row.Word("comm"); comm != "" {
		parts = append(parts, fmt.Sprintf("%s (pid %s)", comm, row.Word("pid")))
	}
	if end := row.Word("became"); end != "" {
		parts = append(parts, end)
	}
	return strings.Join(parts, ", ")
}

func endpoint(row *render.Table, side string) string {
	addr := row.Word(side + "addr")
	if addr == "" {
		return ""
	}
	return net.JoinHostPort(addr, row.Word(side+"port"))
}

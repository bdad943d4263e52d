package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"netrec/analyze/engine"
	"netrec/analyze/render"
	"netrec/analyze/scan"
	"netrec/analyze/symbolize"
)

// answer runs the analyses over every recording in the files. What cannot be read or
// answered is said at once, does not keep the rest waiting, and becomes the exit code.
func answer(paths []string, req engine.Request, screen render.Terminal, out, side io.Writer) error {
	files, err := debugFiles(req.Options["symbols"])
	if err != nil {
		return err
	}
	limits, err := reading(req.Options["memory"])
	if err != nil {
		return err
	}
	// A directory may have one file today and two tomorrow; its answers look the same.
	several := len(paths) != 1 || paths[0] != req.Files[0]
	all, bad := scan.OpenAll(paths, limits)
	if !several && len(bad) > 0 {
		return unreadable{bad[0]}
	}
	watched, out, side := watch(out, side)
	named := func(r *scan.Recording) scan.Source { return symbolize.New(watched(r), files) }
	o, err := newOutput(req, out, side)
	if err != nil {
		return err
	}
	o.On(screen)
	var code exitCode
	for _, err := range bad {
		say(side, err)
		code = codeUnreadable
	}
	for _, r := range all {
		c, err := answerOne(r, named, several, req, o, side)
		var u unreadable
		if errors.As(err, &u) && several {
			say(side, err)
			c, err = codeFor(err), nil
		}
		if err != nil {
			return errors.Join(err, o.Close())
		}
		code = worse(code, c)
	}
	if err := o.Close(); err != nil {
		return fmt.Errorf("write the answer: %w", err)
	}
	if err := noTable(o, req.Options["table"]); err != nil && code != codeNotInFile { // what cannot be answered has few tables
		return err
	}
	if code != 0 {
		return code
	}
	return nil
}

// debugFiles opens the folders of --symbols; nil if there are none.
func debugFiles(list string) (*symbolize.Files, error) {
	if list == "" {
		return nil, nil
	}
	files, err := symbolize.Open(filepath.SplitList(list))
	if err != nil {
		return nil, fmt.Errorf("option --symbols: %w", err)
	}
	return files, nil
}

func newOutput(req engine.Request, out, side io.Writer) (*render.Output, error) {
	style := render.Bpftrace
	if req.Options["look"] == "bcc" {
		style = render.BCC
	}
	o, err := render.NewOutput(cmp.Or(req.Options["format"], "text"), style, out, side)
	if err == nil {
		o.Choose(req.Options["table"], req.Options["list-tables"] == "true")
		if req.Options["all"] == "true" {
			o.All()
		}
	}
	return o, err
}

// noTable is the mistake of a table that no answer has.
func noTable(o *render.Output, table string) error {
	names, unknown := o.Unknown()
	if !unknown {
		return nil
	}
	slices.Sort(names)
	names = slices.Compact(names)
	e := &engine.UsageError{Msg: fmt.Sprintf("option --table: the answer has no table %q", table), Meant: "its tables are " + strings.Join(names, ", ")}
	if near := engine.Suggest(table, names); near != "" {
		e.Meant = fmt.Sprintf("did you mean %s?", near)
	}
	return e
}

// answerOne runs the analyses over one recording and turns what it lacks into a code.
func answerOne(r *scan.Recording, source func(*scan.Recording) scan.Source, several bool, req engine.Request, o *render.Output, side io.Writer) (exitCode, error) {
	if err := r.Load(); err != nil {
		return 0, unreadable{err}
	}
	defer r.Close()
	defer spare(r)()
	nameAll(r, req.Files)
	if several {
		if err := o.From(originOf(r)); err != nil {
			return 0, fmt.Errorf("write the answer: %w", err)
		}
	}
	sel, err := engine.NewSelection(r.Meta(), req.Options)
	if err != nil {
		return 0, err
	}
	outcomes, err := engine.Run(source(r), req.Calls, sel, o)
	if err != nil {
		if werr := o.Err(); werr != nil {
			return 0, fmt.Errorf("write the answer: %w", werr)
		}
		return 0, unreadable{err}
	}
	return codeOf(outcomes, req.Calls, side), nil
}

// codeOf is the exit code of answers. An analysis that broke is also said aside, where
// whoever reads only the tables sees it.
func codeOf(outcomes []engine.Outcome, calls []engine.Call, side io.Writer) (code exitCode) {
	for i, oc := range outcomes {
		switch {
		case oc.Status == engine.Broke:
			say(side, oc.Broken)
			code = worse(code, codeBroken)
		case oc.Full != nil:
			code = worse(code, codePart)
		case oc.Status != engine.Answered && !calls[i].Implied:
			code = worse(code, codeNotInFile)
		}
	}
	return code
}

// nameAll lets commands in answers name a recording in several files as the user did.
func nameAll(r *scan.Recording, words []string) {
	if r.Files() > 1 {
		r.Meta().Words = words
	}
}

// worse is the code of the greater trouble: an unread file hides more than an analysis, that
// more than the rest of a file, and that more than an event.
func worse(a, b exitCode) exitCode {
	rank := []exitCode{0, codeNotInFile, codePart, codeBroken, codeUnreadable}
	return rank[max(slices.Index(rank, a), slices.Index(rank, b))]
}

// say writes an error that is not the end. Names of files that nobody typed may hold
// anything.
func say(w io.Writer, err error) {
	w.Write(append(render.AppendSafe([]byte("netrec: "), err.Error()), '\n'))
}

// originOf says where a recording is from.
func originOf(r *scan.Recording) render.Origin {
	m := r.Meta()
	rows := int64(0)
	for _, n := range m.Rows {
		rows += n
	}
	began, files := time.Unix(0, m.Start()).UTC(), "1 file"
	if n := r.Files(); n > 1 {
		files = engine.Thousands(int64(n)) + " files"
	}
	return render.Origin{Host: m.Host.Name, Began: began.Format(time.RFC3339Nano),
		About: fmt.Sprintf("%s to %s UTC, %s, %s rows", began.Format("2006-01-02 15:04:05"), time.Unix(0, m.LastNS).UTC().Format("15:04:05"), files, engine.Thousands(rows))}
}

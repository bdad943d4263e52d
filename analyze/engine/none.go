package engine

import (
	"fmt"
	"slices"

	"netrec/schema"
)

// None is what is to be said of an answer without a row, in place of the usual reasons.
func (in *Input) None(why string) { in.none = why }

// explainNone says why an answer has no row.
func (in *Input) explainNone(sel *Selection) {
	if in.Answer.Rows() > 0 {
		return
	}
	in.Answer.Header()
	if in.none != "" {
		in.Answer.Note(in.none)
		return
	}
	var events []string
	total, from := int64(0), in.needs
	if len(from) == 0 {
		from = in.uses
	}
	for _, u := range from {
		// Those without a handler only tell who sockets are, first ones what happened before.
		if (u.handler != nil || len(in.needs) > 0) && !u.first {
			events = appendNew(events, u.event)
		}
	}
	for _, e := range events {
		total += in.Meta.Rows[e]
	}
	names := joinOr(events)
	switch {
	case in.run.full != nil:
		in.Answer.Note("none in the part of the recording that was read")
	case in.onlySock != 0 && total > 0:
		in.Answer.Note(fmt.Sprintf("none: no event of the socket 0x%x", in.onlySock))
	case total == 0 && in.passed != [2]int64{}:
		in.Answer.Note(fmt.Sprintf("none: no %s was recorded, although some happened", names))
	case total == 0 && slices.ContainsFunc(events, func(e string) bool { return in.hidden(e, sel) }):
		in.Answer.Note(fmt.Sprintf("none: no %s was recorded, but some may have happened", names))
	case total == 0:
		in.Answer.Note(fmt.Sprintf("none: %s was recorded and did not happen", names))
	case in.matched == 0 && sel.any():
		in.Answer.Note(fmt.Sprintf("none: the selection leaves out all %s events of %s", Thousands(total), names))
	default:
		in.Answer.Note(fmt.Sprintf("none: %s events of %s, but none of them makes a row", Thousands(total), names))
	}
}

// hidden reports whether an event may have happened although no row has it.
func (in *Input) hidden(event string, sel *Selection) bool {
	e := schema.ByName(event)
	return lossOf(in.Meta, event, sel) != "" || missed(in.Meta, event) != "" || in.Meta.Share(event) != nil || in.late([]string{event}) != nil || e != nil && e.Libraries() &&
		slices.ContainsFunc(in.Meta.Recording.Libraries, func(l schema.Library) bool { return !l.Probed || l.Refused != nil })
}

func joinOr(ss []string) string {
	if len(ss) == 0 {
		return "no event"
	}
	s := ss[0]
	for i, t := range ss[1:] {
		if i == len(ss)-2 {
			s += " or " + t
		} else {
			s += ", " + t
		}
	}
	return s
}

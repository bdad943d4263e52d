package render

// Origin is the recording that answers are about, where one call is about several.
type Origin struct {
	Host  string // untrusted
	Began string // time of its start, RFC 3339
	About string // for people: how much there is of it
}

// columns are added to every table, so that rows of several hosts can be told apart
// once they are in one place. Text has them in a line of its own.
func (o Origin) columns() []Column {
	if o.Began == "" {
		return nil
	}
	return []Column{Col("recorded_on", String), Col("recorded_from", String)}
}

// cells are the values of these columns.
func (o Origin) cells() []Cell {
	if o.Began == "" {
		return nil
	}
	return []Cell{{Str: o.Host, Null: o.Host == ""}, {Str: o.Began}}
}

// title is the name of an answer in limits and notes that stand apart from it.
func (a *Answer) title() string {
	if a.from.Began == "" {
		return a.Name
	}
	return a.from.Host + ": " + a.Name
}

// Label names the recording in a sentence.
func (o Origin) Label() string {
	name := o.Host
	if name == "" {
		name = "an unknown host"
	}
	return string(AppendSafe(nil, name+" since "+o.Began))
}

// appendHeading adds the line that text shows above the first answer of a recording.
func (o Origin) appendHeading(b []byte) []byte {
	name := o.Host
	if name == "" {
		name = "unknown host"
	}
	b = AppendSafe(append(b, "# ==== "...), name)
	return append(AppendSafe(append(b, ": "...), o.About), " ====\n"...)
}

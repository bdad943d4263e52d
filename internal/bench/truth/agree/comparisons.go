package agree

// Comparison is a tool of others beside the analysis that answers the same question.
type Comparison struct {
	Tool string // as Debian names it, or what the one-liner counts

	Command []string          // of a tool that prints lines or histograms
	Heading string            // what it prints once it has attached; "" for bpftrace, which says so otherwise
	Map     string            // of bpftrace, without its @
	Script  string            // the probes that fill the map; "" where another comparison brings them
	Theirs  []string          // columns that make the key; nil for all keys of a map
	Only    map[string]string // values that columns of theirs must have, see [Rows.Tally]
	Names   map[string]string // what we call parts of its keys
	// NamesFile is a tracepoint's format, kept beside the outputs, that has such names.
	NamesFile string

	Ours   string            // arguments of netrec analyze
	Table  string            // of the answer; "" for its first
	Fields []string          // columns of ours that make the key, in the same order
	Where  map[string]string // values that columns of ours must have
	Count  string            // column that holds counts; "" for count, or rows that are one each

	Since, Until string // kernels that it is made on; "" for no limit
	Known        string // why they differ, in words that the table shows; "" where they must not
	Broken       string // what the tool says when it does not even start on these kernels
}

// title is the tool as the table names it.
func (c Comparison) title() string {
	if c.Command == nil {
		return "one-liner: " + c.Tool
	}
	return c.Tool
}

// id tells comparisons of one kernel apart.
func (c Comparison) id() string { return c.title() + " " + c.Ours }

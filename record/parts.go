package record

import (
	"os"
	"sync/atomic"
	"time"

	"netrec/record/capture"
	"netrec/record/filter"
	"netrec/record/hook"
	"netrec/record/host"
	"netrec/record/priv"
	"netrec/record/reader"
	"netrec/record/symbol"
	"netrec/schema"
)

// preparation is what a recording needs to begin, with the privileges there are then.
type preparation struct {
	filters   *filter.Set
	cpus      int
	reader    *reader.Reader // of other people's files; nil where nothing needs it
	userNames *reader.Names  // asks it for names in user stacks; nil where there are none
	symbols   *symbol.Kernel
	child     *priv.Child
	lacks     []string // said once: later the recorder may do nothing

	begun     time.Time
	attaching time.Duration                  // how long it took to attach the hooks
	rooted    time.Duration                  // how long the recorder kept its privileges
	quit      atomic.Bool                    // asked to end, while the recording was being set up
	made      atomic.Pointer[capture.Writer] // the first file, while the recording is being set up
}

// loop is the way of rows from the hooks to the writer, and what ends it.
type loop struct {
	hooks  *hook.Set
	names  *resolver
	acct   *account
	drain  *drain
	writer *writer
	counts *counting
	budget *budget // nil for none
	spare  spare

	opened    time.Time           // when the probes began to make rows
	committed time.Time           // when a pile was handed over last
	stopped   int64               // monotonic ns, once the probes have fallen silent
	late      chan schema.Library // that appeared during the recording
	told      map[string]bool     // what is told once

	signals chan os.Signal
	stop    chan string
	end     string
	exit    int // of the command, once stop has said that it ended
}

// facts is what the file says beside its rows.
type facts struct {
	report      *host.Report
	missing     []string // events that no hook can see, though the host may have them
	start       schema.Anchor
	meta        schema.Recording
	counter     schema.Counters
	first, last schema.Cost     // what the recorder had used when the recording began, and by its newest row
	constant    map[string]any  // metadata that is the same in every file
	modules     map[string]bool // with queueing disciplines; nil if they are not watched
}

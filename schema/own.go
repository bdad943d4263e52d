package schema

// Meta is a fact about the recording or the host that SQL should see too.
type Meta struct {
	Header
	Key   uint32 `col:"key" as:"ref" doc:"name of the fact"`
	Value uint32 `col:"value" as:"ref" doc:"the fact, JSON where it has parts"`
}

// Lost says how many events of a kind did not reach the file.
type Lost struct {
	Header
	Window    int64  `col:"window_ns" unit:"ns" doc:"what the row sums up fell between ts_ns - window_ns and ts_ns"`
	Count     int64  `col:"lost_count" unit:"events" doc:"how many events were lost"`
	LostCPU   int32  `col:"lost_cpu" doc:"CPU on which they were lost"`
	LostEvent uint16 `col:"lost_event" as:"enum event" doc:"kind of event that was lost"`
	Cause     uint8  `col:"cause" as:"enum cause" doc:"ring: the ring was full; scratch: no room to remember a call's start; writer: it could not be written to the file; nested: an interrupt found the same probe running (CPU unknown: lost_cpu is -1)"`
	_         [1]uint8
}

// Cost is what the recorder itself used up to this moment.
type Cost struct {
	Header
	UserNS int64 `col:"user_ns" unit:"ns" doc:"CPU time of the recorder in user mode so far"`
	SysNS  int64 `col:"sys_ns" unit:"ns" doc:"CPU time of the recorder in kernel mode so far"`
	RSS    int64 `col:"rss_bytes" unit:"bytes" doc:"resident memory of the recorder"`
	File   int64 `col:"file_bytes" unit:"bytes" doc:"size of the capture file so far"`
	Rows   int64 `col:"rows" unit:"events" doc:"rows committed so far"`
}

var (
	meta = Event{ID: 1, Name: "meta", Row: Meta{}, Rate: Low,
		Doc: "a fact about host or recording, at start, stop and on change"}
	lost = Event{ID: 2, Name: "lost", Row: Lost{}, Rate: Low,
		Doc: "events that did not reach the file, by kind, CPU and time"}
	cost = Event{ID: 3, Name: "cost", Row: Cost{}, Rate: Low,
		Doc: "what the recorder itself used, at the start and once a second"}
)

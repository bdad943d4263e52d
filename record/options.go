package record

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"netrec/record/filter"
	"netrec/record/place"
	"netrec/schema"
)

// Options say what to record, for how long and where to.
type Options struct {
	Output     string
	Force      bool          // overwrite
	Place      *place.Plan   // where files go that are named by time, instead of Output
	Rotate     Rotate        // when to go on in another file
	For        time.Duration // 0: until told
	Count      int64         // stop after at least so many events; 0: no limit
	Command    []string      // run this, and stop when it ends
	Events     []*schema.Event
	Profile    schema.Profile
	Share      *schema.Share          // of packets and of what else is thinned; nil for all
	Budget     float64                // part of the host's CPU time that is not to be exceeded; 0: whatever it costs
	Mechanism  map[string]schema.Kind // by event: use only this mechanism
	Within     time.Duration          // rows are on disk after this time; 0 for the default
	Start      time.Duration          // attach hooks for no longer than this; 0 for the default
	Buffer     int64                  // bytes of kernel memory for the rings, 0 for the default
	Filters    filter.Words           // which rows; none for all
	CountFuncs []string               // patterns of kernel functions whose calls are counted
	CountTPs   []string               // the same of tracepoints, group:name
	IOStacks   bool                   // which code sends and receives, too
	AllStacks  bool                   // also stacks that tell little and cost much
	Ready      string                 // file to create once every hook is attached
	Manager    string                 // socket of the service manager, to be told when the recording has begun
	Libraries  []string               // files to look for name lookups in, beside the C libraries that are found
	Follow     bool                   // keep a privileged helper that probes C libraries as they appear
	Args       []string               // the command line, for the file
	Version    string
	Status     func(Status) // told when the recording has begun and about every second; may be nil
	Notice     func(Notice) // told what the user should know now; may be nil
}

// Rotate is when a file ends and the recording goes on in the next: at the first limit
// that is reached. Zero values are no limits of the user's; files have their own.
type Rotate struct {
	Bytes int64
	Every time.Duration
}

// Select finds events by name and group; a leading minus takes out, "all" is
// everything. Without words it is the events of the profile.
func Select(words []string, p schema.Profile) ([]*schema.Event, error) {
	rank := slices.Index(schema.Profiles, p)
	if rank < 0 {
		return nil, fmt.Errorf("no profile %q", p)
	}
	chosen := map[string]bool{}
	if !slices.ContainsFunc(words, func(w string) bool { return !strings.HasPrefix(w, "-") }) {
		for _, e := range schema.Events {
			at := slices.Index(schema.Profiles, e.Profile)
			chosen[e.Name] = !e.Own() && at >= 0 && at <= rank
		}
	}
	for _, w := range words {
		name, out := strings.CutPrefix(w, "-")
		found := false
		for _, e := range schema.Events {
			if !e.Own() && (e.Name == name || name == "all" && e.Profile != schema.Asked || slices.Contains(e.Groups, name)) {
				chosen[e.Name] = !out
				found = true
			}
		}
		if !found {
			return nil, &UnknownEventError{Name: name}
		}
	}
	var events []*schema.Event
	for i := range schema.Events {
		if chosen[schema.Events[i].Name] {
			events = append(events, &schema.Events[i])
		}
	}
	if len(events) == 0 {
		return nil, fmt.Errorf("no event left to record")
	}
	return events, nil
}

// withAsked adds the events that options of their own ask for.
func withAsked(events []*schema.Event, o *Options) []*schema.Event {
	asked := map[string]bool{"func_count": len(o.CountFuncs) > 0, "tp_count": len(o.CountTPs) > 0, "sock_stack": o.IOStacks}
	for name, wanted := range asked {
		if e := schema.ByName(name); wanted && !slices.Contains(events, e) {
			events = append(slices.Clip(events), e)
		}
	}
	return events
}

// UnknownEventError names an event or group that does not exist.
type UnknownEventError struct{ Name string }

func (e *UnknownEventError) Error() string { return fmt.Sprintf("no event or group %q", e.Name) }

// EventWords are the words that Select knows.
func EventWords() []string {
	words := []string{"all"}
	for _, e := range schema.Events {
		if e.Own() {
			continue
		}
		words = append(words, e.Name)
		for _, g := range e.Groups {
			if !slices.Contains(words, g) {
				words = append(words, g)
			}
		}
	}
	return words
}

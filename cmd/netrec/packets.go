package main

import (
	"fmt"
	"slices"
	"strings"

	"netrec/record/filter"
	"netrec/schema"
)

// share understands --packets. Without it, the profile default records a share, and who asks
// for everything or names events gets all of them.
func (f *recordFlags) share() error {
	switch f.packets {
	case "all":
		return nil
	case "none":
		f.opt.Events = slices.DeleteFunc(f.opt.Events, func(e *schema.Event) bool { return e.Drawn() })
		if len(f.opt.Events) == 0 {
			return fmt.Errorf("--packets none: no event left to record")
		}
		return nil
	case "":
		named := slices.ContainsFunc(f.events, func(w string) bool { return !strings.HasPrefix(w, "-") })
		if f.opt.Profile == schema.Default && !named {
			f.opt.Share = &schema.DefaultShare
		}
		return nil
	}
	keep, of, err := filter.Part(f.packets)
	if err != nil {
		return hinted{fmt.Errorf("--packets %s: %w", f.packets, err), "--packets 1/16, --packets all or --packets none"}
	}
	f.opt.Share = &schema.Share{Keep: keep, Of: of}
	return nil
}

// packetsHelp is what the help of profiles says of events that are thinned.
func packetsHelp() string {
	by := map[schema.Thin][]string{}
	for _, e := range schema.Events {
		if e.Drawn() {
			by[e.Thin] = append(by[e.Thin], e.Name)
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "           and %d/%d of the following, as answers say; --packets changes the share, full records all:\n", schema.DefaultShare.Keep, schema.DefaultShare.Of)
	for _, l := range []struct {
		by   schema.Thin
		what string
	}{{schema.ByPacket, "packets, each with all its events"}, {schema.ByTime, "time"},
		{schema.ByCall, "calls, and every call that holds data back"}, {schema.ByWait, "waits, and every wait while a connect is pending"}} {
		fmt.Fprintf(&b, "           %s: %s\n", l.what, strings.Join(by[l.by], " "))
	}
	return b.String()
}

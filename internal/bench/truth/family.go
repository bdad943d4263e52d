package truth

import (
	"slices"

	"netrec/internal/bench/vmtest/traffic"
)

// checkFamilies: packets that were made from others have both, and what TCP sent was
// cloned first, because it keeps the original for retransmission.
func checkFamilies(c *Capture, l *traffic.Log, want Expect) Errors {
	var errs Errors
	if slices.Contains(want.Missing, "skb_free") {
		return nil // functions cannot be hooked here
	}
	for _, r := range c.Select("skb_free") {
		if r.Int["skb"] == 0 || r.Str["func"] == "" {
			errs.add("skb_free: a row that cannot be: %v %v", r.Int, r.Str)
			break
		}
	}
	clones := map[int64]bool{}
	for _, r := range c.Select("skb_derive") {
		if r.Int["ok"] == 1 && (r.Int["skb"] == 0 || r.Int["parent_skb"] == 0 || r.Int["skb"] == r.Int["parent_skb"]) {
			errs.add("skb_derive: a row that cannot be: %v %v", r.Int, r.Str)
			break
		}
		if r.Str["derive_kind"] == "clone" {
			clones[r.Int["skb"]] = true
		}
	}
	sent := map[int64]bool{} // sockets
	for _, r := range c.Select("dev_queue", ofRun(l), func(r *Row) bool { return r.Int["sock"] != 0 && clones[r.Int["skb"]] }) {
		sent[r.Int["sock"]] = true
	}
	clients := 0
	for _, s := range l.Sockets {
		if s.Type == "stream" && s.Family != "unix" && s.Role == "client" && s.Sent > 0 {
			clients++
		}
	}
	// An address of a socket may serve several after each other.
	if len(sent) == 0 || clients == 0 {
		errs.add("skb_derive: %d sockets sent clones, %d clients sent data", len(sent), clients)
	}
	return append(append(errs, checkEnds(c, l)...), checkLives(c, l)...)
}

// checkLives: an address is a packet's from its birth to its end. No other is born there
// meanwhile and nothing ends there afterwards, but for events of which the account says
// that they were not seen. Copies and segments are allocated, so only clones are further
// births.
func checkLives(c *Capture, l *traffic.Log) Errors {
	var errs Errors
	alive := map[int64]bool{}
	births, twice := 0, map[string]int{}
	during := Between(l.Begin, l.End) // all hooks are in place
	for i := range c.Rows {
		r := &c.Rows[i]
		birth := r.Event == "skb_alloc" || r.Event == "skb_derive" && r.Str["derive_kind"] == "clone" && r.Int["ok"] == 1
		if !birth && r.Event != "skb_free" || !during(r) {
			continue
		}
		if was, known := alive[r.Int["skb"]]; known && was == birth {
			twice[r.Event+" "+r.Str["func"]]++
		}
		alive[r.Int["skb"]] = birth
		if birth {
			births++
		}
	}
	total := 0
	for _, n := range twice {
		total += n
	}
	if unseen := nested(c, "skb_alloc") + nested(c, "skb_derive") + nested(c, "skb_free"); births == 0 || total > unseen {
		errs.add("of %d packets some were born where another had not ended or ended again: %v; %d events were not seen", births, twice, unseen)
	}
	return errs
}

// checkEnds: every packet whose end a tracepoint told has ended by the functions' account
// too, at the same address and after its last birth.
func checkEnds(c *Capture, l *traffic.Log) Errors {
	var errs Errors
	ends := map[int64][]int64{}
	for _, r := range c.Select("skb_free") {
		ends[r.Int["skb"]] = append(ends[r.Int["skb"]], r.TS)
	}
	told, missing := 0, 0
	for _, event := range []string{"skb_consume", "skb_drop"} {
		for _, r := range c.Select(event, Between(l.Begin, l.End)) {
			told++
			if i, _ := slices.BinarySearch(ends[r.Int["skb"]], r.TS); i == len(ends[r.Int["skb"]]) {
				missing++
			}
		}
	}
	if told == 0 || missing > nested(c, "skb_free") {
		errs.add("skb_free: no end of %d of %d packets that were consumed or dropped", missing, told)
	}
	return errs
}

// checkSamples: CPUs were looked at no more often than asked for, and something was seen.
func checkSamples(c *Capture, l *traffic.Log) Errors {
	var errs Errors
	const hertz = 49
	rows := c.Select("cpu_sample", Between(l.Begin, l.End))
	per := map[int64]int{}
	for _, r := range rows {
		per[r.Int["cpu"]]++
		if r.Int["pid"] == 0 || r.Str["kstack"] == "" && r.Str["ustack"] == "" {
			errs.add("cpu_sample: a row that cannot be: %v %v", r.Int, r.Str)
			break
		}
	}
	most := int((l.End-l.Begin)*hertz/1e9) + hertz
	for cpu, n := range per {
		if n > most {
			errs.add("cpu_sample: %d rows of CPU %d, at most %d were asked for", n, cpu, most)
		}
	}
	if len(rows) == 0 && len(c.Meta.Recording.Filters) == 0 { // one namespace may have little to do
		errs.add("cpu_sample: no rows")
	}
	return errs
}

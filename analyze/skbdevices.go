package analyze

import (
	"netrec/analyze/agg"
	"netrec/analyze/engine"
	"netrec/analyze/packets"
	"netrec/analyze/scan"
)

// skbDevices knows the device at which each sk_buff was seen last, for rows that do not
// say it themselves.
type skbDevices struct {
	last     agg.Pending[uint64, string]
	names    agg.Intern
	skb, dev scan.Col
}

// newSkbDevices follows sk_buffs; without says what the answer lacks if they cannot be.
func newSkbDevices(in *engine.Input, without string) *skbDevices {
	f := &skbDevices{skb: in.Int("skb"), dev: in.Str("dev")}
	for _, event := range []string{"dev_queue", "dev_start_xmit", "dev_gro_in", "dev_recv"} {
		in.Context(event, without, func(r *engine.Row) { f.last.Begin(r.Uint(f.skb), f.names.Get(r.Str(f.dev))) })
	}
	packets.Follow(in, func(skb uint64) { f.last.End(skb) }, f.last.Clear)
	// From here on the address is another's.
	for _, event := range []string{"skb_alloc", "skb_consume", "skb_free"} {
		in.Context(event, "", func(r *engine.Row) { f.last.End(r.Uint(f.skb)) })
	}
	return f
}

// of is the device of the row's sk_buff, "" if none was seen.
func (f *skbDevices) of(r *engine.Row) string {
	dev, _ := f.last.Open(r.Uint(f.skb))
	return dev
}

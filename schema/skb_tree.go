package schema

// SkbFree is the end of an sk_buff, whatever the way.
type SkbFree struct {
	Header
	Reason int32 `col:"drop_reason" as:"enum drop_reason" null:"ones"`
	Func   uint8 `col:"func" as:"enum func"`
	Cloned uint8 `col:"cloned" doc:"1 if the packet's data may be shared with another sk_buff"`
	_      [2]uint8
}

// SkbDerive is an sk_buff that was made from another or went into another.
type SkbDerive struct {
	Header
	Parent uint64 `col:"parent_skb" as:"addr" doc:"clone, copy, segment: the sk_buff from which skb was made; gro, coalesce: the one that took in skb"`
	Len    int32  `col:"len_bytes"`
	Nth    uint16 `col:"nth" null:"ones" doc:"position among the segments of a packet or the descriptors of a message, counted from 0"`
	Kind   uint8  `col:"derive_kind" as:"enum derive_kind" doc:"how skb and parent_skb are related"`
	OK     uint8  `col:"ok" doc:"1 if it succeeded"`
}

var (
	skbFree = Event{ID: 107, Name: "skb_free", Row: SkbFree{}, Rate: Extreme, Profile: Default, Thin: ByPacket,
		Groups: []string{"skb"},
		Doc:    "an sk_buff ended, after use or dropped",
		Ladder: []Rung{
			skbFreeRung(2),
			skbFreeRung(1),
		}}
	skbDerive = Event{ID: 108, Name: "skb_derive", Row: SkbDerive{}, Rate: Extreme, Profile: Default, Thin: ByPacket,
		Groups: []string{"skb"},
		Doc:    "an sk_buff was cloned, copied, cut into segments or merged into another",
		Ladder: []Rung{{
			{Kind: Fexit, Target: "skb_clone", Args: 2, Prog: "skb_derive_clone"},
			{Kind: Fexit, Target: "skb_copy", Args: 2, Prog: "skb_derive_copy"},
			{Kind: Fexit, Target: "skb_segment", Args: 2, Prog: "skb_derive_segment", Optional: true},
			{Kind: Fexit, Target: "skb_gro_receive", Args: 2, Prog: "skb_derive_gro"},
			{Kind: Fexit, Target: "skb_try_coalesce", Args: 4, Prog: "skb_derive_coalesce"},
		}}}
)

// skbFreeRung is for kernels whose skb_release_data has that many arguments. It runs at the
// end of nearly every packet, but also where pskb_expand_head and the like give a packet
// other data; and it does not run where the data went into another packet.
func skbFreeRung(args int) Rung {
	n := string(rune('0' + args))
	return Rung{
		{Kind: Fexit, Target: "skb_release_data", Args: args, CallSite: "pskb_expand_head", Prog: "skb_free_fexit" + n},
		{Kind: Fentry, Target: "kfree_skb_partial", Args: 2, Prog: "skb_free_partial"},
		{Kind: Fentry, Target: "napi_skb_free_stolen_head", Args: 1, Prog: "skb_free_stolen", Optional: true},
	}
}

package schema

// SkbAlloc is the birth of an sk_buff.
type SkbAlloc struct {
	Header
	Size   int64    `col:"alloc_bytes" null:"ones" unit:"bytes" doc:"data size asked for"`
	Cache  [24]byte `col:"cache" as:"str" doc:"slab cache, where the hook sees it; names of merged caches mislead"`
	Func   uint8    `col:"func" as:"enum func"`
	Fclone uint8    `col:"fclone" null:"ones" doc:"1 if allocated together with room for a clone"`
	_      [6]uint8
}

// SkbConsume is the regular end of an sk_buff.
type SkbConsume struct {
	Header
	Location uint64 `col:"location" as:"ksym" doc:"kernel function that freed the packet; NULL on kernels that do not say"`
}

// SkbDrop is the end of an sk_buff whose packet was thrown away.
type SkbDrop struct {
	Header
	Location uint64   `col:"location" as:"ksym"`
	Saddr    [16]byte `col:"saddr" as:"ip PktFam" doc:"source address in the packet"`
	Daddr    [16]byte `col:"daddr" as:"ip PktFam" doc:"destination address in the packet"`
	Sport    uint16   `col:"sport" null:"zero" doc:"source port in the packet"`
	Dport    uint16   `col:"dport" null:"zero" doc:"destination port in the packet"`
	PktFam   uint16
	Proto    uint16 `col:"ethertype" as:"enum ethertype" doc:"protocol of the packet as the device layer sees it"`
	Reason   int32  `col:"drop_reason" as:"enum drop_reason" null:"ones" doc:"why, in the recording kernel's own words; NULL before 5.17"`
	Len      int32  `col:"len_bytes"`
	L4       uint16 `col:"protocol" as:"enum protocol" null:"ones"`
	TCPFlags uint8  `col:"tcp_flags" null:"zero"`
	State    uint8  `col:"state" as:"enum tcp_state" null:"zero"`
	_        [4]uint8
	KStack   [64]uint64 `col:"kstack" as:"kstack" doc:"kernel stack, folded, outermost first; NULL where none was taken, see skb_drop and dev_xmit"`
}

var (
	skbAlloc = Event{ID: 40, Name: "skb_alloc", Row: SkbAlloc{}, Rate: Extreme, Profile: Default, Thin: ByPacket,
		Groups: []string{"skb"},
		Doc:    "an sk_buff was allocated",
		Ladder: []Rung{
			{{Kind: Fexit, Target: "__alloc_skb", Args: 4, Prog: "skb_alloc_fexit"},
				{Kind: Fexit, Target: "__build_skb_around", Args: 3, CallSite: "__alloc_skb", Prog: "skb_alloc_build"}},
			{{Kind: RawTP, Target: "kmem_cache_alloc", Args: 5, CallSite: "__alloc_skb", Prog: "skb_alloc_slab", Costly: true}},
		}}
	skbConsume = Event{ID: 41, Name: "skb_consume", Row: SkbConsume{}, Rate: Extreme, Profile: Default, Thin: ByPacket,
		Groups: []string{"skb"},
		Doc:    "an sk_buff was freed after use",
		Ladder: []Rung{
			{{Kind: RawTP, Target: "consume_skb", Args: 2, Prog: "skb_consume_tp2"}},
			{{Kind: RawTP, Target: "consume_skb", Args: 1, Prog: "skb_consume_tp1"}},
		}}
	skbDrop = Event{ID: 42, Name: "skb_drop", Row: SkbDrop{}, Rate: Medium, Profile: Light,
		Groups: []string{"skb"},
		Doc:    "a packet was dropped",
		Ladder: []Rung{
			{{Kind: RawTP, Target: "kfree_skb", Args: 4, Prog: "skb_drop_tp4"},
				{Kind: RawTP, Target: "kfree_skb", Args: 4, Prog: "skb_drop_tp4_again", Again: true}},
			{{Kind: RawTP, Target: "kfree_skb", Args: 3, Prog: "skb_drop_tp3"},
				{Kind: RawTP, Target: "kfree_skb", Args: 3, Prog: "skb_drop_tp3_again", Again: true}},
			{{Kind: RawTP, Target: "kfree_skb", Args: 2, Prog: "skb_drop_tp2"},
				{Kind: RawTP, Target: "kfree_skb", Args: 2, Prog: "skb_drop_tp2_again", Again: true}},
		}}
)

package schema

// WifiScan is the start or the end of one scan of a Wi-Fi radio; the two have the same
// request.
type WifiScan struct {
	Header
	Wiphy    uint64   `col:"wiphy" as:"addr" doc:"kernel address of the struct wiphy, which stands for a radio"`
	Request  uint64   `col:"scan_request" as:"addr" doc:"kernel address of the struct cfg80211_scan_request; reused after free"`
	Dev      [16]byte `col:"dev" as:"str"`
	SSID     [32]byte `col:"ssid" as:"str" doc:"first network name that is looked for; NULL for any"`
	Ifindex  int32    `col:"ifindex"`
	SSIDs    int32    `col:"ssid_count" doc:"how many network names are looked for; 0 if only listening"`
	Channels int32    `col:"channel_count" doc:"how many channels are looked at"`
	Flags    int32    `col:"scan_flags" doc:"flags of the request: 1 low priority, 2 flush what was known, and more"`
	Step     uint8    `col:"scan_step" as:"enum scan_step" doc:"start or done"`
	Aborted  uint8    `col:"aborted" null:"ones" doc:"1 if the scan was given up; NULL at its start"`
	_        [6]uint8
}

// WifiChannel is one channel that was looked up by its frequency: by those who ask for a
// scan, and for every frame that tells of a network.
type WifiChannel struct {
	Header
	Wiphy   uint64 `col:"wiphy" as:"addr"`
	Channel uint64 `col:"channel" as:"addr" doc:"kernel address of the struct ieee80211_channel"`
	Freq    int32  `col:"center_freq" unit:"MHz" doc:"center frequency of the channel"`
	Flags   int32  `col:"channel_flags" doc:"flags of the channel: 1 disabled, 2 no initiating, and more"`
	Band    uint8  `col:"wifi_band" as:"enum wifi_band" doc:"band of the channel, as the kernel names it"`
	Beacon  uint8  `col:"beacon_found" doc:"1 if a beacon was seen on the channel"`
	_       [6]uint8
}

// layout511 came with 5.11, as BTF of modules did. Before it, the layouts of cfg80211 are
// those of 5.10, which the probes know.
const layout511 = "syscall_user_dispatch"

// Radios belong to the machine and are served by its workers: of the filters, only that by
// namespace applies.
var (
	wifiScan = Event{ID: 94, Name: "wifi_scan", Row: WifiScan{}, Rate: Low, Profile: Default,
		Groups: []string{"wifi"},
		Doc:    "a scan of a Wi-Fi radio started or was done; only while cfg80211 is loaded before the recording begins",
		Ladder: []Rung{
			{{Kind: RawTP, Target: "rdev_scan", Args: 2, Module: "cfg80211", Prog: "wifi_scan_start_tp"},
				{Kind: RawTP, Target: "cfg80211_scan_done", Args: 2, Module: "cfg80211", Prog: "wifi_scan_done_tp"}},
			{{Kind: Kprobe, Target: "ieee80211_request_scan", Without: layout511, Prog: "wifi_scan_start_kprobe"},
				{Kind: Kprobe, Target: "cfg80211_scan_done", Without: layout511, Prog: "wifi_scan_done_kprobe"}},
		}}
	wifiChannel = Event{ID: 95, Name: "wifi_channel", Row: WifiChannel{}, Rate: Low, Profile: Default,
		Groups: []string{"wifi"},
		Doc:    "a Wi-Fi channel was looked up; only while cfg80211 is loaded before the recording begins",
		Ladder: []Rung{
			{{Kind: Fexit, Target: "ieee80211_get_channel_khz", Args: 2, Module: "cfg80211", Prog: "wifi_channel_fexit"}},
			{{Kind: Kprobe, Target: "ieee80211_get_channel_khz", Without: layout511, Prog: "wifi_channel_kprobe"},
				{Kind: Kretprobe, Target: "ieee80211_get_channel_khz", Without: layout511, Prog: "wifi_channel_kretprobe"}},
		}}
)

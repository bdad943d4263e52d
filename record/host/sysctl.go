package host

import (
	"os"
	"strings"
)

// sysctls are the settings that explain what a recording shows. Names a kernel
// does not have are left out.
var sysctls = []string{
	"kernel.kptr_restrict",
	"kernel.perf_event_paranoid",
	"kernel.unprivileged_bpf_disabled",
	"net.core.bpf_jit_enable",
	"net.core.busy_poll",
	"net.core.busy_read",
	"net.core.default_qdisc",
	"net.core.dev_weight",
	"net.core.netdev_budget",
	"net.core.netdev_budget_usecs",
	"net.core.netdev_max_backlog",
	"net.core.optmem_max",
	"net.core.rmem_default",
	"net.core.rmem_max",
	"net.core.rps_sock_flow_entries",
	"net.core.somaxconn",
	"net.core.wmem_default",
	"net.core.wmem_max",
	"net.ipv4.ip_local_port_range",
	"net.ipv4.tcp_abort_on_overflow",
	"net.ipv4.tcp_adv_win_scale",
	"net.ipv4.tcp_allowed_congestion_control",
	"net.ipv4.tcp_autocorking",
	"net.ipv4.tcp_available_congestion_control",
	"net.ipv4.tcp_base_mss",
	"net.ipv4.tcp_congestion_control",
	"net.ipv4.tcp_dsack",
	"net.ipv4.tcp_early_retrans",
	"net.ipv4.tcp_ecn",
	"net.ipv4.tcp_ecn_fallback",
	"net.ipv4.tcp_fastopen",
	"net.ipv4.tcp_fin_timeout",
	"net.ipv4.tcp_frto",
	"net.ipv4.tcp_keepalive_intvl",
	"net.ipv4.tcp_keepalive_probes",
	"net.ipv4.tcp_keepalive_time",
	"net.ipv4.tcp_limit_output_bytes",
	"net.ipv4.tcp_max_orphans",
	"net.ipv4.tcp_max_reordering",
	"net.ipv4.tcp_max_syn_backlog",
	"net.ipv4.tcp_max_tw_buckets",
	"net.ipv4.tcp_mem",
	"net.ipv4.tcp_min_tso_segs",
	"net.ipv4.tcp_moderate_rcvbuf",
	"net.ipv4.tcp_mtu_probing",
	"net.ipv4.tcp_no_metrics_save",
	"net.ipv4.tcp_notsent_lowat",
	"net.ipv4.tcp_orphan_retries",
	"net.ipv4.tcp_pacing_ca_ratio",
	"net.ipv4.tcp_pacing_ss_ratio",
	"net.ipv4.tcp_recovery",
	"net.ipv4.tcp_reordering",
	"net.ipv4.tcp_retries1",
	"net.ipv4.tcp_retries2",
	"net.ipv4.tcp_rmem",
	"net.ipv4.tcp_sack",
	"net.ipv4.tcp_slow_start_after_idle",
	"net.ipv4.tcp_syn_retries",
	"net.ipv4.tcp_synack_retries",
	"net.ipv4.tcp_syncookies",
	"net.ipv4.tcp_timestamps",
	"net.ipv4.tcp_tso_win_divisor",
	"net.ipv4.tcp_tw_reuse",
	"net.ipv4.tcp_window_scaling",
	"net.ipv4.tcp_wmem",
	"net.ipv4.udp_mem",
	"net.ipv4.udp_rmem_min",
	"net.ipv4.udp_wmem_min",
	"net.unix.max_dgram_qlen",
}

// readSysctls adds the settings as the calling thread's network namespace has
// them; the kernel shows /proc/sys/net by the namespace of the reader.
func readSysctls(m map[string]string) {
	for _, name := range sysctls {
		b, err := os.ReadFile("/proc/sys/" + strings.ReplaceAll(name, ".", "/"))
		if err == nil {
			m[name] = strings.Join(strings.Fields(string(b)), " ")
		}
	}
}

package hook

import (
	"testing"

	"netrec/schema"
)

// A joint program stands for its parts only where every one of them is wanted.
func TestPlanJoints(t *testing.T) {
	packets := []string{"dev_queue", "dev_start_xmit", "dev_recv", "ip_ecn", "icmp_echo"}
	for _, tt := range []struct {
		name   string
		events []string
		want   map[string]string
	}{
		{"all", packets, map[string]string{
			"dev_queue_tp": "net_dev_queue_joint", "ip_ecn_queue_tp": "net_dev_queue_joint", "icmp_echo_send_tp": "net_dev_queue_joint",
			"dev_start_xmit_tp": "net_dev_start_xmit_joint", "ip_ecn_xmit_tp": "net_dev_start_xmit_joint",
			"dev_recv_tp": "netif_receive_skb_joint", "ip_ecn_recv_tp": "netif_receive_skb_joint", "icmp_echo_recv_tp": "netif_receive_skb_joint",
		}},
		{"without icmp_echo", packets[:4], map[string]string{
			"dev_start_xmit_tp": "net_dev_start_xmit_joint", "ip_ecn_xmit_tp": "net_dev_start_xmit_joint"}},
		{"one", packets[3:4], nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := &Set{uses: map[rungKey]use{}}
			var events []*schema.Event
			for _, name := range tt.events {
				e := schema.ByName(name)
				s.uses[rungKey{e.ID, 0}] = use{hooks: e.Ladder[0]} // the kernel has them
				events = append(events, e)
			}
			s.planJoints(events)
			for prog, j := range s.joints {
				if tt.want[prog] != j.name {
					t.Errorf("%s is part of %s, want %q", prog, j.name, tt.want[prog])
				}
			}
			if len(s.joints) != len(tt.want) {
				t.Errorf("%d parts, want %d", len(s.joints), len(tt.want))
			}
		})
	}
}

{{- /* Events that see packets: where rows of them are lost, any packet may have ended. */ -}}
'skb_alloc', 'skb_derive', 'dev_queue', 'qdisc_enq', 'qdisc_deq', 'dev_start_xmit', 'dev_gro_in', 'dev_recv', 'skb_consume', 'skb_drop', 'skb_free'
{{- /* no newline */ -}}

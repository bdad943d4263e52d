-- Hosts that TCP retransmits to: segments of data, or SYN-ACKs. A buffer holds several segments.
WITH {{capture}}, again AS (
    SELECT {{host}}CASE WHEN event = 'tcp_synack_retrans' THEN 'tracepoint:tcp:tcp_retransmit_synack'
        ELSE 'tracepoint:tcp:tcp_retransmit_skb' END AS probe, raddr AS host, coalesce(retrans_segs, 1) AS segs
    FROM capture
    WHERE event = 'tcp_synack_retrans' OR event = 'tcp_retrans' AND coalesce(err, 0) >= 0
)
SELECT {{host}}probe, host, sum(segs) AS count
FROM again
GROUP BY {{host}}probe, host
ORDER BY {{host}}sum(segs), probe, host

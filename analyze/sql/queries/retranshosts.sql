-- Hosts that TCP sends to again: data, or SYN-ACKs.
WITH {{capture}}, again AS (
    SELECT {{host}}CASE WHEN event = 'tcp_synack_retrans' THEN 'tracepoint:tcp:tcp_retransmit_synack'
        ELSE 'tracepoint:tcp:tcp_retransmit_skb' END AS probe, raddr AS host
    FROM capture
    WHERE event IN ('tcp_retrans', 'tcp_synack_retrans')
)
SELECT {{host}}probe, host, count(*) AS count
FROM again
GROUP BY {{host}}probe, host
ORDER BY {{host}}count(*), probe, host

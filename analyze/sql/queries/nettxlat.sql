-- From handing a packet to its driver until it is released (us), arrives at a receiver on
-- this host (local_us) or is dropped (dropped_us): what next happens to it. What veth devices
-- give to a namespace that was not recorded is told by netrec analyze, not here.
WITH {{capture}}, {{template "sights.sql"}}, steps AS (
    SELECT {{host}}event, dev, ts_ns, lead(event) OVER next AS then_event, lead(ts_ns) OVER next AS then_ns
    FROM sights
    WHERE event IN ('dev_start_xmit', 'skb_consume', 'dev_queue', 'skb_drop', 'dev_recv', 'dev_gro_in', 'skb_free')
    WINDOW next AS (PARTITION BY {{host}}skb, epoch, packet ORDER BY ts_ns, cpu, seq)
), samples AS (
    SELECT {{host}}CASE then_event WHEN 'skb_consume' THEN 'us' WHEN 'skb_drop' THEN 'dropped_us' ELSE 'local_us' END AS part,
        {{div "then_ns - ts_ns" 1000}} AS v
    FROM steps
    WHERE event = 'dev_start_xmit' AND then_event IN ('skb_consume', 'skb_drop', 'dev_recv', 'dev_gro_in')
){{template "hist.sql" keys "part"}}

-- From handing a packet to its driver until it is released (us), arrives at a receiver on
-- this host (local_us) or is dropped (dropped_us): what next happens at its address. A
-- packet that comes in where it went out is another one, but on loopback.
WITH {{capture}}, steps AS (
    SELECT {{host}}event, dev, ts_ns,
        lead(event) OVER next AS then_event, lead(dev) OVER next AS then_dev, lead(ts_ns) OVER next AS then_ns
    FROM capture
    WHERE event IN ('dev_start_xmit', 'skb_consume', 'dev_queue', 'skb_drop', 'dev_recv', 'dev_gro_in', 'skb_free', 'skb_alloc')
    WINDOW next AS (PARTITION BY {{host}}skb ORDER BY ts_ns, cpu, seq)
), samples AS (
    SELECT {{host}}CASE then_event WHEN 'skb_consume' THEN 'us' WHEN 'skb_drop' THEN 'dropped_us' ELSE 'local_us' END AS part,
        {{div "then_ns - ts_ns" 1000}} AS v
    FROM steps
    WHERE event = 'dev_start_xmit' AND (then_event IN ('skb_consume', 'skb_drop')
        OR then_event IN ('dev_recv', 'dev_gro_in') AND (then_dev <> dev OR dev = 'lo'))
){{template "hist.sql" keys "part"}}

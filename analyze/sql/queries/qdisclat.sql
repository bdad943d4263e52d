-- How long packets wait in queueing disciplines, per kind: from entry until they leave
-- the same discipline, unless they end before. Segments that a discipline cuts and
-- packets that leave together are counted by netrec analyze, not here. Where rows were lost,
-- any packet may have left.
WITH {{capture}}, ends AS (
    SELECT {{host}}event, qdisc_kind, ts_ns, cpu, seq, skb, coalesce(qdisc, 0) AS place,
        sum(CASE WHEN event IN ('qdisc_enq', 'qdisc_deq') THEN 0 ELSE 1 END)
            OVER (PARTITION BY {{host}}skb ORDER BY ts_ns, cpu, seq ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS packet,
        sum(CASE WHEN event = 'lost' THEN 1 ELSE 0 END)
            OVER (PARTITION BY {{host}}1 ORDER BY ts_ns, cpu, seq ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS epoch
    FROM capture
    WHERE event IN ('qdisc_enq', 'qdisc_deq', 'qdisc_drop', 'dev_queue', 'skb_consume', 'skb_drop', 'skb_free', 'dev_start_xmit')
        OR event = 'lost' AND lost_event IN ({{template "packetevents.sql"}})
), steps AS (
    SELECT {{host}}event, qdisc_kind AS kind, ts_ns,
        lag(event) OVER stay AS from_event, lag(ts_ns) OVER stay AS from_ns
    FROM ends
    WHERE event IN ('qdisc_enq', 'qdisc_deq')
    WINDOW stay AS (PARTITION BY {{host}}skb, packet, epoch, place ORDER BY ts_ns, cpu, seq)
), samples AS (
    SELECT {{host}}'us' AS part, kind, {{div "ts_ns - from_ns" 1000}} AS v
    FROM steps
    WHERE event = 'qdisc_deq' AND from_event = 'qdisc_enq'
){{template "hist.sql" keys "part" "kind"}}

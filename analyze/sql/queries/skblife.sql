-- How long sk_buffs live, from allocation, cloning or being cut from a larger one until they
-- are freed. Where the recording has no event skb_free, they end with being consumed or dropped.
WITH {{capture}}, facts AS (
    SELECT {{host}}skb, parent_skb, ts_ns, cpu, seq, event,
        CASE WHEN event = 'skb_alloc' OR event = 'skb_derive' AND derive_kind = 'clone' THEN 'birth' WHEN event <> 'skb_derive' THEN 'end'
            WHEN derive_kind IN ('copy', 'segment') THEN 'cut' ELSE 'merged' END AS what,
        max(CASE WHEN event = 'skb_free' THEN 1 ELSE 0 END) OVER ({{each}}) AS freed
    FROM capture
    WHERE event IN ('skb_alloc', 'skb_free', 'skb_consume', 'skb_drop') OR event = 'skb_derive' AND ok = 1
), steps AS (
    -- What was cut counts only if the one that it was cut from is known to be alive, and not part of another.
    SELECT {{host}}skb, ts_ns, cpu, seq, what, max(CASE WHEN what = 'birth' THEN ts_ns ELSE 0 END) OVER before AS born,
        max(CASE WHEN what IN ('end', 'merged') THEN ts_ns ELSE 0 END) OVER before AS died
    FROM facts
    WHERE what <> 'end' OR event = 'skb_free' OR freed = 0
    WINDOW before AS (PARTITION BY {{host}}CASE WHEN what = 'cut' THEN parent_skb ELSE skb END ORDER BY ts_ns, cpu, seq ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)
), turns AS (
    SELECT {{host}}skb, ts_ns, what, CASE WHEN what = 'end' THEN -1 ELSE 0 END + sum(CASE WHEN what = 'end' THEN 1 ELSE 0 END) OVER before AS life
    FROM steps
    WHERE what IN ('birth', 'end') OR what = 'cut' AND born > died
    WINDOW before AS (PARTITION BY {{host}}skb ORDER BY ts_ns, cpu, seq ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)
), lives AS (
    SELECT {{host}}skb, life, max(CASE WHEN what = 'birth' THEN ts_ns END) AS born, min(CASE WHEN what = 'cut' THEN ts_ns END) AS cut,
        max(CASE WHEN what = 'end' THEN ts_ns END) AS ended
    FROM turns
    GROUP BY {{host}}skb, life
), samples AS (
    SELECT {{host}}'skb_residency_nsecs' AS part, ended - coalesce(born, cut) AS v
    FROM lives
    WHERE ended IS NOT NULL AND coalesce(born, cut) IS NOT NULL
){{template "hist.sql" keys "part"}}

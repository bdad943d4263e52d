-- How long sk_buffs live, from allocation or cloning until they are freed. Where the
-- recording has no event skb_free, they end with being consumed or dropped.
WITH {{capture}}, ends AS (
    SELECT {{host}}skb, ts_ns, cpu, seq, event,
        CASE WHEN event IN ('skb_alloc', 'skb_derive') THEN 1 ELSE 0 END AS birth,
        max(CASE WHEN event = 'skb_free' THEN 1 ELSE 0 END) OVER ({{each}}) AS freed
    FROM capture
    WHERE event IN ('skb_alloc', 'skb_free', 'skb_consume', 'skb_drop') OR event = 'skb_derive' AND derive_kind = 'clone' AND ok = 1
), steps AS (
    SELECT {{host}}birth, ts_ns, lead(birth) OVER next AS then_birth, lead(ts_ns) OVER next AS then_ns,
        row_number() OVER (PARTITION BY {{host}}skb ORDER BY ts_ns DESC, cpu DESC, seq DESC) AS left_over
    FROM ends
    WHERE birth = 1 OR event = 'skb_free' OR freed = 0
    WINDOW next AS (PARTITION BY {{host}}skb ORDER BY ts_ns, cpu, seq)
), samples AS (
    SELECT {{host}}'skb_residency_nsecs' AS part, then_ns - ts_ns AS v
    FROM steps
    WHERE birth = 1 AND then_birth = 0 AND left_over > 1
){{template "hist.sql" keys "part"}}

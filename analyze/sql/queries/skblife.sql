-- How long sk_buffs live, from allocation, cloning or being cut from a larger one until they
-- are freed. Where the recording has no event skb_free, they end with being consumed or dropped.
-- What veth devices give to a namespace that was not recorded is told by netrec analyze, not here.
WITH {{capture}}, {{template "sights.sql"}}, ends AS (
    SELECT {{host}}max(CASE WHEN event = 'skb_free' THEN 1 ELSE 0 END) AS freed
    FROM packetrows
    {{perhost}}
), facts AS (
    SELECT {{hostof "s"}}skb, skb AS parent_skb, epoch, ts_ns, cpu, seq,
        CASE WHEN event IN ('skb_alloc', 'skb_derive') THEN 'birth'
            WHEN event = 'skb_free' OR event IN ('skb_consume', 'skb_drop') AND freed = 0 THEN 'end' ELSE 'seen' END AS what, fresh
    FROM sights AS s JOIN ends ON {{same "s" "ends"}}1 = 1
    UNION ALL
    SELECT {{host}}skb, parent_skb, epoch, ts_ns, cpu, seq, CASE WHEN derive_kind IN ('copy', 'segment') THEN 'cut' ELSE 'merged' END AS what, 0 AS fresh
    FROM packetrows
    WHERE event = 'skb_derive' AND derive_kind <> 'clone'
), steps AS (
    -- What was cut counts only if the one that it was cut from is known to be alive, and not part of another.
    SELECT {{host}}skb, epoch, ts_ns, cpu, seq, what, fresh, max(CASE WHEN what = 'birth' THEN ts_ns ELSE 0 END) OVER before AS born,
        max(CASE WHEN what IN ('end', 'merged') OR what <> 'birth' AND fresh = 1 THEN ts_ns ELSE 0 END) OVER before AS died
    FROM facts
    WINDOW before AS (PARTITION BY {{host}}epoch, CASE WHEN what = 'cut' THEN parent_skb ELSE skb END ORDER BY ts_ns, cpu, seq ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)
), turns AS (
    SELECT {{host}}skb, epoch, ts_ns, what, CASE WHEN what = 'end' THEN -1 ELSE 0 END + sum(CASE WHEN what = 'end' THEN 1 ELSE 0 END + fresh) OVER before AS life
    FROM steps
    WHERE what IN ('birth', 'end') OR what = 'cut' AND born > died OR fresh = 1
    WINDOW before AS (PARTITION BY {{host}}skb, epoch ORDER BY ts_ns, cpu, seq ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)
), lives AS (
    SELECT {{host}}skb, epoch, life, max(CASE WHEN what = 'birth' THEN ts_ns END) AS born, min(CASE WHEN what = 'cut' THEN ts_ns END) AS cut,
        max(CASE WHEN what = 'end' THEN ts_ns END) AS ended
    FROM turns
    GROUP BY {{host}}skb, epoch, life
), samples AS (
    SELECT {{host}}'skb_residency_nsecs' AS part, ended - coalesce(born, cut) AS v
    FROM lives
    WHERE ended IS NOT NULL AND coalesce(born, cut) IS NOT NULL
){{template "hist.sql" keys "part"}}

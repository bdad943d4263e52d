-- Packets that the kernel dropped: part stacks by the innermost eight frames of the
-- stack, part reasons by reason and place.
WITH {{capture}}, drops AS (
    SELECT {{host}}{{last "coalesce(nullif(kstack, ''), location)" 8}} AS kstack, drop_reason AS reason, location
    FROM capture
    WHERE event = 'skb_drop'
), parts AS (
    SELECT {{host}}'stacks' AS part, kstack, CAST(NULL AS {{text}}) AS reason, CAST(NULL AS {{text}}) AS location, count(*) AS n
    FROM drops
    GROUP BY {{host}}kstack
    UNION ALL
    SELECT {{host}}'reasons' AS part, CAST(NULL AS {{text}}) AS kstack, reason, location, count(*) AS n
    FROM drops
    GROUP BY {{host}}reason, location
)
SELECT {{host}}part, kstack, reason, location, n AS count
FROM parts
ORDER BY {{host}}part, n DESC, kstack, reason, location

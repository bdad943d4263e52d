-- Events of each kind, second by second since the start of the recording. Of dropped packets
-- why is the reason, of lost events which kind was lost.
WITH {{capture}}, {{template "started.sql"}}, counted AS (
    SELECT {{hostof "c"}}{{div "c.ts_ns - s.start_ns" 1000000000}} AS second, c.event AS event,
        CASE c.event WHEN 'lost' THEN nullif(c.lost_event, '') WHEN 'skb_drop' THEN nullif(c.drop_reason, '') END AS why,
        CASE WHEN c.event = 'lost' THEN coalesce(c.lost_count, 0) ELSE 1 END AS n, s.start_ns AS start_ns
    FROM capture AS c JOIN started AS s ON {{same "c" "s"}}1 = 1
    WHERE c.event NOT IN ('meta', 'cost')
)
SELECT {{host}}second, event, why, sum(n) AS count, min(start_ns + second * 1000000000) AS ts_ns
FROM counted
GROUP BY {{host}}second, event, why
ORDER BY {{host}}second, sum(n) DESC, event, why

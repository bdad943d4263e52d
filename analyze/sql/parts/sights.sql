{{- /* Rows about packets, and which of those at one address are of the same one: packet counts up where
the row cannot be of the packet of the row before, which has ended unseen, in a namespace that was left
out, without an event or among rows that were lost (epoch). What kinds devices are of is not known here. */ -}}
packetrows AS (
    SELECT {{host}}skb, parent_skb, derive_kind, ts_ns, cpu, seq, event, netns, coalesce(dev, '') AS dev, ctx,
        CASE WHEN event IN ('skb_alloc', 'skb_derive') THEN 0 ELSE sock END AS sock, coalesce(len_bytes, 0) AS len,
        CASE WHEN event = 'lost' OR event = 'skb_derive' AND derive_kind <> 'clone' THEN 0 WHEN event IN ('skb_alloc', 'skb_derive') THEN 1 WHEN event = 'dev_queue' THEN 2 WHEN event = 'qdisc_enq' THEN 3
            WHEN event = 'qdisc_deq' OR event = 'dev_xmit' AND rc = 16 THEN 4 WHEN event = 'dev_start_xmit' THEN 5 WHEN event = 'dev_xmit' THEN 6
            WHEN event = 'dev_gro_in' THEN 7 WHEN event = 'dev_recv' THEN 8 ELSE 9 END AS spot,
        sum(CASE WHEN event = 'lost' THEN 1 ELSE 0 END) OVER (PARTITION BY {{host}}1 ORDER BY ts_ns, cpu, seq ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS epoch,
        max(CASE WHEN event = 'dev_recv' THEN 1 ELSE 0 END) OVER ({{each}}) AS peers
    FROM capture
    WHERE event IN ('skb_alloc', 'dev_queue', 'qdisc_enq', 'qdisc_deq', 'dev_start_xmit', 'dev_xmit', 'dev_gro_in', 'dev_recv', 'skb_consume', 'skb_drop', 'skb_free')
        OR event = 'skb_derive' AND ok = 1
        OR event = 'lost' AND lost_event IN ({{template "packetevents.sql"}})
), started_by AS (
    SELECT {{host}}skb, ts_ns, cpu, seq, event, netns, dev, ctx, epoch, spot,
        CASE WHEN event = 'dev_xmit' THEN lag(sock) OVER prev WHEN spot = 9 AND peers = 0 THEN 0 ELSE sock END AS sock,
        CASE WHEN event = 'dev_xmit' THEN lag(len) OVER prev ELSE len END AS len,
        CASE WHEN event <> 'dev_xmit' OR lag(spot) OVER prev = 5 AND lag(dev) OVER prev = dev AND lag(netns) OVER prev = netns THEN 1 ELSE 0 END AS counts
    FROM packetrows
    WHERE spot > 0
    WINDOW prev AS (PARTITION BY {{host}}skb, epoch ORDER BY ts_ns, cpu, seq)
), pairs AS (
    SELECT {{host}}skb, ts_ns, cpu, seq, event, dev, ctx, epoch, spot, sock, len, lag(spot) OVER prev AS was, lag(dev) OVER prev AS was_dev, lag(ctx) OVER prev AS was_ctx,
        lag(sock) OVER prev AS was_sock, lag(len) OVER prev AS was_len, CASE WHEN lag(dev) OVER prev = dev AND lag(netns) OVER prev = netns THEN 1 ELSE 0 END AS stays
    FROM started_by
    WHERE counts = 1
    WINDOW prev AS (PARTITION BY {{host}}skb, epoch ORDER BY ts_ns, cpu, seq)
), judged AS (
    SELECT {{host}}skb, ts_ns, cpu, seq, event, dev, epoch, spot, sock,
        CASE WHEN was IS NULL THEN 0 WHEN was <> 9 AND was_sock <> 0 AND sock <> 0 AND was_sock <> sock THEN 1 WHEN spot = 1 THEN 1
            WHEN spot <= 5 AND was IN (2, 3, 4) THEN CASE WHEN stays = 1 AND (spot = 2 OR spot <> 5 AND was_len <> len) THEN 1 ELSE 0 END
            WHEN spot <= 5 AND was = 5 THEN stays
            WHEN spot <= 5 AND was = 6 THEN CASE WHEN stays = 1 OR was_dev = 'lo' THEN 1 ELSE 0 END
            WHEN spot <= 5 AND was IN (7, 8) THEN CASE WHEN was_dev = 'lo' OR stays = 1 AND sock <> 0 THEN 1 ELSE 0 END
            WHEN spot IN (7, 8) AND was = 1 THEN CASE WHEN was_ctx = 'task' AND dev = 'lo' THEN 1 ELSE 0 END
            WHEN spot IN (7, 8) AND was IN (2, 3, 4) THEN stays
            WHEN spot IN (7, 8) AND was IN (5, 6) AND was_dev = 'lo' THEN
                CASE WHEN stays = 0 OR was_len <> 0 AND len <> 0 AND (len > was_len OR len < was_len - 18) THEN 1 ELSE 0 END
            WHEN spot IN (7, 8) AND was IN (5, 6) THEN stays
            WHEN spot IN (7, 8) AND was IN (7, 8) THEN CASE WHEN stays = 1 AND NOT (was = 7 AND spot = 8) THEN 1 ELSE 0 END
            WHEN spot < 9 AND was = 9 THEN 1 ELSE 0 END AS fresh
    FROM pairs
), sights AS (
    SELECT {{host}}skb, ts_ns, cpu, seq, event, dev, epoch, fresh,
        sum(fresh) OVER (PARTITION BY {{host}}skb, epoch ORDER BY ts_ns, cpu, seq ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS packet
    FROM judged
)
{{- /* no newline */ -}}

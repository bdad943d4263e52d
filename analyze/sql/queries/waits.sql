-- Turns of TCP connections, a question and its answer, and how long they take, by service: the
-- listening port, or the remote address and port. Left out, and only in netrec analyze: what the
-- time was spent on, services without a turn, connections that are older than the recording, and
-- what becomes of a connection where rows were lost.
WITH {{capture}},
{{template "lives.sql" events "sock_io" "tcp_rcv_est" "tcp_retrans"}}, {{template "sockets.sql" ""}}, phases AS (
    SELECT *, min(CASE WHEN event = 'tcp_state' AND new_state IN ('SYN_SENT', 'SYN_RECV') THEN ts_ns END) OVER life AS syn_ns,
        CASE WHEN min(CASE WHEN event = 'tcp_state' AND new_state = 'SYN_SENT' THEN ts_ns END) OVER life IS NULL THEN 1 ELSE 0 END AS passive,
        min(CASE WHEN event = 'sock_io' THEN ts_ns END) OVER life AS called_ns
    FROM lives
    WINDOW life AS (PARTITION BY {{host}}sock, generation)
), rows_of AS ( -- has is 1 for rows with positions
    SELECT {{host}}sock, generation, ts_ns, cpu, seq, event, new_state, passive, CASE WHEN event IN ('tcp_retrans', 'sys_accept') THEN 0 ELSE 1 END AS has,
        CAST(out_bytes AS {{int}}) AS out_low, CAST(in_bytes AS {{int}}) AS in_low, CAST(unsent_bytes AS {{int}}) AS unsent, CAST(unread_bytes AS {{int}}) AS unread,
        CASE WHEN event = 'tcp_rcv_est' THEN (CAST(snd_nxt AS {{int}}) - CAST(snd_una AS {{int}}) + 4294967296) % 4294967296 ELSE CAST(unacked_bytes AS {{int}}) END AS unacked,
        CASE WHEN event = 'tcp_rcv_est' AND acked_bytes > 0 THEN CAST(acked_bytes AS {{int}}) ELSE 0 END AS acks,
        CASE WHEN event <> 'tcp_rcv_est' OR seq_gap_bytes > 0 THEN 0 ELSE greatest(CAST(coalesce(payload_bytes, 0) AS {{int}}) + coalesce(seq_gap_bytes, 0), 0) END AS fresh,
        CASE WHEN event = 'tcp_rcv_est' AND rtt_min_us > 0 THEN CAST(rtt_min_us AS {{int}}) * 1000 END AS rtt_ns
    FROM phases
    WHERE ts_ns >= syn_ns AND (closed_ns IS NULL OR ts_ns < closed_ns) AND (event = 'tcp_retrans' OR event = 'sys_accept' AND (called_ns IS NULL OR ts_ns < called_ns)
        OR in_bytes IS NOT NULL AND unread_bytes IS NOT NULL AND (event IN ('tcp_rcv_est', 'sock_io')
            OR event = 'tcp_state' AND protocol = 'tcp' AND new_state NOT IN ('SYN_SENT', 'SYN_RECV', 'LISTEN', 'CLOSE')))
), laps AS ( -- columns have 32 bits of a position
    SELECT *, lag(ts_ns) OVER (PARTITION BY {{host}}sock, generation ORDER BY ts_ns, cpu, seq) AS ended_ns,
        min(rtt_ns) OVER (PARTITION BY {{host}}sock, generation ORDER BY ts_ns, cpu, seq ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS least_ns,
        CASE WHEN (lag(out_low) OVER places) - out_low > 2147483648 THEN 1 ELSE 0 END AS out_laps,
        CASE WHEN (lag(in_low) OVER places) - in_low > 2147483648 THEN 1 ELSE 0 END AS in_laps
    FROM rows_of
    WINDOW places AS (PARTITION BY {{host}}sock, generation, has ORDER BY ts_ns, cpu, seq)
), streams AS (
    SELECT *, out_low + 4294967296 * sum(out_laps) OVER so_far AS sent, in_low + 4294967296 * sum(in_laps) OVER so_far AS arrived
    FROM laps
    WINDOW so_far AS (PARTITION BY {{host}}sock, generation, has ORDER BY ts_ns, cpu, seq ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)
), fins AS ( -- a FIN has a position and is no data
    SELECT *, coalesce(min(CASE WHEN new_state IN ('FIN_WAIT1', 'LAST_ACK') THEN sent + unsent END) OVER life, 4611686018427387904) AS out_end,
        coalesce(min(CASE WHEN new_state IN ('CLOSE_WAIT', 'CLOSING') THEN arrived - 1 END) OVER life, 4611686018427387904) AS in_end
    FROM streams
    WINDOW life AS (PARTITION BY {{host}}sock, generation)
), ends_of AS (
    SELECT {{host}}sock, generation, ts_ns, cpu, seq, event, new_state, passive, has, ended_ns, least_ns, acks, fresh, sent + unsent AS wrote_to, sent - unacked + acks AS acked_to,
        least(sent + unsent, out_end) AS written, least(sent, out_end) AS sent, least(sent - unacked, out_end) AS acked, least(sent - unacked + acks, out_end) AS acked_then,
        least(arrived, in_end) AS arrived, least(arrived + fresh, in_end) AS arrived_then, least(arrived - unread, in_end) AS taken
    FROM fins
), steps AS (
    SELECT *, lag(written) OVER places AS written_before, lag(arrived_then) OVER places AS arrived_before, lag(taken) OVER places AS taken_before
    FROM ends_of
    WINDOW places AS (PARTITION BY {{host}}sock, generation, has ORDER BY ts_ns, cpu, seq)
), moments AS (
    -- A segment is three moments: what happened since the row before, as it finds it (bytes left, or a send is under way since
    -- a round trip ago), the positions with what it acknowledges, and those with what it carries, too. A FIN ends a question that nobody will answer.
    SELECT {{hostof "s"}}s.sock AS sock, s.generation AS generation, s.ts_ns AS ts_ns, s.cpu AS cpu, s.seq AS seq, p.place AS place, s.has AS has, s.passive AS passive,
        CASE WHEN p.place = 2 AND s.fresh > 0 AND s.acked + s.acks < s.written THEN 1 ELSE 0 END AS crosses, CASE WHEN p.place = 3 THEN 1 ELSE 0 END AS stops,
        CASE WHEN p.place > 0 THEN s.ts_ns WHEN s.wrote_to <= s.written_before THEN s.ended_ns ELSE greatest(s.ended_ns, s.ts_ns - s.least_ns) END AS at_ns,
        CASE WHEN p.place = 0 AND s.wrote_to <= s.written_before THEN s.written_before ELSE s.written END AS written, s.sent AS sent,
        CASE WHEN p.place = 0 THEN s.acked ELSE s.acked_then END AS acked, CASE p.place WHEN 0 THEN s.arrived_before WHEN 2 THEN s.arrived_then ELSE s.arrived END AS arrived,
        CASE WHEN p.place = 0 THEN s.taken_before ELSE s.taken END AS taken
    FROM steps AS s CROSS JOIN (SELECT 0 AS place UNION ALL SELECT 1 AS place UNION ALL SELECT 2 AS place UNION ALL SELECT 3 AS place) AS p
    WHERE p.place = 0 AND s.event = 'tcp_rcv_est' AND (s.wrote_to <= s.written_before OR s.wrote_to > s.written_before AND s.acks > 0 AND s.least_ns > 0 AND s.acked_to <> s.wrote_to)
        OR p.place = 1 AND s.event <> 'sys_accept' OR p.place = 2 AND s.event = 'tcp_rcv_est'
        OR p.place = 3 AND (s.passive = 0 AND s.new_state = 'CLOSE_WAIT' OR s.passive = 1 AND s.new_state IN ('FIN_WAIT1', 'LAST_ACK'))
), changes AS (
    SELECT *, row_number() OVER (PARTITION BY {{host}}sock, generation ORDER BY ts_ns, cpu, seq, place) AS nth,
        CASE WHEN passive = 1 THEN arrived - lag(arrived) OVER places ELSE written - lag(written) OVER places END AS asked,
        CASE WHEN passive = 1 THEN written - lag(written) OVER places ELSE arrived - lag(arrived) OVER places END AS answered,
        CASE WHEN lag(arrived) OVER places > lag(taken) OVER places THEN 1 ELSE 0 END AS unread_before
    FROM moments
    WINDOW places AS (PARTITION BY {{host}}sock, generation, has ORDER BY ts_ns, cpu, seq, place)
), flows AS ( -- flow is 1 for a question, 2 for an answer
    SELECT *, CASE WHEN answered > 0 THEN 2 WHEN asked > 0 THEN 1 WHEN stops = 1 THEN 3 END AS flow
    FROM changes
), priors AS (
    SELECT *, coalesce(max(CASE WHEN flow IS NOT NULL THEN 4 * nth + flow END) OVER (PARTITION BY {{host}}sock, generation ORDER BY nth ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) % 4 AS prior
    FROM flows
), breaks AS (
    SELECT *, CASE WHEN asked > 0 AND prior <> 1 THEN 1 ELSE 0 END AS begins_turn, CASE WHEN stops = 1 AND prior = 1 THEN 1 ELSE 0 END AS gives_up
    FROM priors
), parts AS (
    SELECT *, sum(begins_turn + gives_up) OVER (PARTITION BY {{host}}sock, generation ORDER BY nth ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS part_no
    FROM breaks
), inturns AS (
    SELECT *, max(begins_turn) OVER turn AS in_turn, max(CASE WHEN answered > 0 THEN nth END) OVER turn AS answer_nth, max(CASE WHEN has = 0 THEN nth END) OVER turn AS resent_nth
    FROM parts
    WINDOW turn AS (PARTITION BY {{host}}sock, generation, part_no)
), crossings AS (
    SELECT *, CASE WHEN lag(in_turn) OVER moment = 1 AND (crosses = 1 OR begins_turn = 1 AND passive = 0 AND prior = 2 AND unread_before = 1) THEN 1 ELSE 0 END AS crossed
    FROM inturns
    WINDOW moment AS (PARTITION BY {{host}}sock, generation ORDER BY nth)
), bothways AS (
    SELECT *, lead(crossed) OVER (PARTITION BY {{host}}sock, generation ORDER BY nth) AS crossed_next
    FROM crossings
), turns_of AS (
    SELECT {{host}}sock, generation, part_no, passive, min(CASE WHEN begins_turn = 1 THEN at_ns END) AS start_ns, max(crossed + coalesce(crossed_next, 0)) AS crossings,
        min(CASE WHEN has = 1 AND nth >= answer_nth AND (passive = 0 AND taken >= arrived
            OR passive = 1 AND sent >= written AND (resent_nth IS NULL OR nth > resent_nth AND acked >= written)) THEN at_ns END) AS end_ns
    FROM bothways
    WHERE in_turn = 1
    GROUP BY {{host}}sock, generation, part_no, passive
), lengths AS (
    SELECT {{hostof "t"}}CASE WHEN t.passive = 1 THEN concat(':', CAST(o.lport AS {{text}})) WHEN coalesce(o.raddr, '') = '' THEN '?'
            WHEN o.raddr LIKE '%:%' THEN concat('[', o.raddr, ']:', CAST(o.rport AS {{text}})) ELSE concat(o.raddr, ':', CAST(o.rport AS {{text}})) END AS service,
        CASE WHEN t.crossings > 0 THEN 1 ELSE 0 END AS crossed, CASE WHEN t.crossings = 0 AND t.end_ns IS NULL THEN 1 ELSE 0 END AS unfinished,
        CASE WHEN t.crossings = 0 THEN {{div "t.end_ns - t.start_ns" 1000}} END AS us
    FROM turns_of AS t JOIN sockets AS o ON {{same "t" "o"}}t.sock = o.sock AND t.generation = o.generation
), ranks AS (
    SELECT *, row_number() OVER (PARTITION BY {{host}}service, CASE WHEN us IS NULL THEN 0 ELSE 1 END ORDER BY us) AS nth,
        count(us) OVER (PARTITION BY {{host}}service) AS n, min(us) OVER (PARTITION BY {{host}}service) AS least_us,
        CASE WHEN us < 128 THEN us ELSE us - us % ({{power "greatest(size - 7, 0)"}}) END AS low_us -- quantiles are the low end of a bucket, as those of analyze
    FROM (SELECT *, {{bits "us"}} AS size FROM lengths) AS sized
)
SELECT {{host}}service, count(*) AS turns, sum(crossed) AS overlap,
    max(CASE WHEN nth = ceil(CAST(0.5 AS DOUBLE) * n) THEN greatest(low_us, least_us) END) / 1000.0 AS p50_ms,
    max(CASE WHEN nth = ceil(CAST(0.9 AS DOUBLE) * n) THEN greatest(low_us, least_us) END) / 1000.0 AS p90_ms,
    max(CASE WHEN nth = ceil(CAST(0.99 AS DOUBLE) * n) THEN greatest(low_us, least_us) END) / 1000.0 AS p99_ms,
    max(us) / 1000.0 AS max_ms, sum(unfinished) AS unfinished
FROM ranks
GROUP BY {{host}}service
ORDER BY {{host}}turns DESC, service

-- Windows of TCP connections: a row rcv for each segment that arrived, with the values before
-- it was processed, new for each session, retrans for each buffer retransmitted, and cong where
-- congestion control changed its state. Sessions older than the recording begin with it.
WITH {{capture}}, {{template "started.sql"}},
{{template "lives.sql" events "tcp_rcv_est" "tcp_retrans" "tcp_tlp" "tcp_cong_state"}}, {{template "sockets.sql" ""}}, alive AS (
    SELECT DISTINCT {{host}}{{fact "cookie"}} AS older_cookie, {{match "value" "\"laddr\":\"([^\"]*)\""}} AS laddr, {{fact "lport"}} AS lport,
        {{match "value" "\"raddr\":\"([^\"]*)\""}} AS raddr, {{fact "rport"}} AS rport
    FROM capture
    WHERE event = 'meta' AND {{name "key"}} = 'netrec.sockets'
), steps AS (
    SELECT *, max(CASE WHEN sure_cookie = 1 AND born = 0 THEN cookie END) OVER (PARTITION BY {{host}}sock, generation) AS life_cookie,
        sum(CASE WHEN new_state = 'ESTABLISHED' THEN 1 ELSE 0 END) OVER so_far AS established,
        sum(CASE WHEN lport <> 0 AND rport <> 0 THEN 1 ELSE 0 END) OVER so_far AS ends_known
    FROM lives
    WINDOW so_far AS (PARTITION BY {{host}}sock, generation ORDER BY ts_ns, cpu, seq ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)
), news AS (
    -- A session whose beginning was not seen has its row where the first segment arrives after its ends are known.
    SELECT {{hostof "w"}}w.event AS event, w.sock AS sock, w.generation AS generation, w.ts_ns AS ts_ns, w.first_ns AS first_ns, w.cpu AS cpu, w.seq AS seq,
        a.older_cookie AS older_cookie, a.laddr AS laddr, a.lport AS lport, a.raddr AS raddr, a.rport AS rport,
        row_number() OVER (PARTITION BY {{byhost "w"}}w.sock, w.generation, w.event ORDER BY w.ts_ns, w.cpu, w.seq) AS place
    FROM steps AS w LEFT JOIN alive AS a ON {{same "w" "a"}}w.life_cookie = a.older_cookie
    WHERE w.event = 'tcp_state' AND w.new_state = 'ESTABLISHED' OR w.event = 'tcp_rcv_est' AND w.established = 0 AND (w.ends_known > 0 OR a.lport <> 0 AND a.rport <> 0)
), facts AS (
    SELECT {{host}}event, sock, ts_ns, ts_ns AS at_ns, cpu, seq, 1 AS place, snd_cwnd, snd_ssthresh, sk_sndbuf, sk_wmem_queued, retrans_kind, ca_state,
        CAST(NULL AS {{text}}) AS saddr, CAST(NULL AS {{int}}) AS sport, CAST(NULL AS {{text}}) AS daddr, CAST(NULL AS {{int}}) AS dport
    FROM steps
    WHERE event IN ('tcp_rcv_est', 'tcp_retrans', 'tcp_cong_state') OR event = 'tcp_tlp' AND probe_sent <> 0 AND coalesce(retrans_segs, 0) = 0
    UNION ALL
    SELECT {{hostof "n"}}'new' AS event, n.sock AS sock, n.ts_ns AS ts_ns,
        CASE WHEN n.event = 'tcp_state' THEN n.ts_ns WHEN n.older_cookie IS NOT NULL THEN s.start_ns ELSE n.first_ns END AS at_ns, n.cpu AS cpu, n.seq AS seq, 0 AS place,
        NULL AS snd_cwnd, NULL AS snd_ssthresh, NULL AS sk_sndbuf, NULL AS sk_wmem_queued, NULL AS retrans_kind, NULL AS ca_state,
        coalesce(CASE WHEN o.lport <> 0 THEN nullif(o.laddr, '') END, n.laddr) AS saddr, coalesce(nullif(o.lport, 0), n.lport, 0) AS sport,
        coalesce(CASE WHEN o.rport <> 0 THEN nullif(o.raddr, '') END, n.raddr) AS daddr, coalesce(nullif(o.rport, 0), n.rport, 0) AS dport
    FROM news AS n JOIN sockets AS o ON {{same "n" "o"}}n.sock = o.sock AND n.generation = o.generation
        JOIN started AS s ON {{same "n" "s"}}1 = 1
    WHERE n.event = 'tcp_state' OR n.place = 1
)
SELECT {{hostof "f"}}CASE f.event WHEN 'tcp_rcv_est' THEN 'rcv' WHEN 'tcp_cong_state' THEN 'cong' WHEN 'new' THEN 'new' ELSE 'retrans' END AS event,
    {{hex "f.sock"}} AS sock, {{div "f.at_ns - s.start_ns" 1000}} AS time_us,
    CASE WHEN f.event IN ('tcp_rcv_est', 'tcp_cong_state') THEN coalesce(f.snd_cwnd, 0) END AS snd_cwnd,
    CASE WHEN f.event IN ('tcp_rcv_est', 'tcp_cong_state') THEN coalesce(f.snd_ssthresh, 0) END AS snd_ssthresh,
    CASE WHEN f.event = 'tcp_rcv_est' THEN coalesce(f.sk_sndbuf, 0) END AS sk_sndbuf, CASE WHEN f.event = 'tcp_rcv_est' THEN coalesce(f.sk_wmem_queued, 0) END AS sk_wmem_queued,
    f.saddr AS saddr, f.sport AS sport, f.daddr AS daddr, f.dport AS dport, CASE WHEN f.event = 'tcp_cong_state' THEN f.ca_state ELSE f.retrans_kind END AS kind
FROM facts AS f JOIN started AS s ON {{same "f" "s"}}1 = 1
ORDER BY {{byhost "f"}}f.ts_ns, f.cpu, f.seq, f.place

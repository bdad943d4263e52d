-- Windows of TCP connections: a row rcv for each segment that arrived, with the values before
-- it was processed, new for each session, retrans for each segment sent again, and cong where
-- congestion control changed its state. Sessions older than the recording begin with it.
WITH {{capture}}, {{template "started.sql"}},
{{template "lives.sql" events "tcp_rcv_est" "tcp_retrans" "tcp_tlp" "tcp_cong_state"}}, {{template "sockets.sql" ""}}, alive AS (
    SELECT DISTINCT {{host}}{{fact "cookie"}} AS older_cookie
    FROM capture
    WHERE event = 'meta' AND {{name "key"}} = 'netrec.sockets'
), steps AS (
    SELECT *, max(CASE WHEN sure_cookie = 1 AND born = 0 THEN cookie END) OVER (PARTITION BY {{host}}sock, generation) AS life_cookie,
        sum(CASE WHEN event = 'tcp_rcv_est' OR new_state = 'ESTABLISHED' THEN 1 ELSE 0 END)
            OVER (PARTITION BY {{host}}sock, generation ORDER BY ts_ns, cpu, seq ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS place_in_life
    FROM lives
), facts AS (
    SELECT {{host}}event, sock, ts_ns, ts_ns AS at_ns, cpu, seq, 1 AS place, snd_cwnd, snd_ssthresh, sk_sndbuf, sk_wmem_queued, retrans_kind, ca_state,
        CAST(NULL AS {{text}}) AS saddr, CAST(NULL AS {{int}}) AS sport, CAST(NULL AS {{text}}) AS daddr, CAST(NULL AS {{int}}) AS dport
    FROM steps
    WHERE event IN ('tcp_rcv_est', 'tcp_retrans', 'tcp_cong_state') OR event = 'tcp_tlp' AND probe_sent <> 0
    UNION ALL
    SELECT {{hostof "w"}}'new' AS event, w.sock AS sock, w.ts_ns AS ts_ns,
        CASE WHEN w.event = 'tcp_state' THEN w.ts_ns WHEN a.older_cookie IS NOT NULL THEN s.start_ns ELSE w.first_ns END AS at_ns, w.cpu AS cpu, w.seq AS seq, 0 AS place,
        NULL AS snd_cwnd, NULL AS snd_ssthresh, NULL AS sk_sndbuf, NULL AS sk_wmem_queued, NULL AS retrans_kind, NULL AS ca_state,
        nullif(o.laddr, '') AS saddr, coalesce(o.lport, 0) AS sport, nullif(o.raddr, '') AS daddr, coalesce(o.rport, 0) AS dport
    FROM steps AS w JOIN sockets AS o ON {{same "w" "o"}}w.sock = o.sock AND w.generation = o.generation
        JOIN started AS s ON {{same "w" "s"}}1 = 1
        LEFT JOIN alive AS a ON {{same "w" "a"}}w.life_cookie = a.older_cookie
    WHERE w.event = 'tcp_state' AND w.new_state = 'ESTABLISHED' OR w.event = 'tcp_rcv_est' AND w.place_in_life = 1 AND o.lport <> 0 AND o.rport <> 0
)
SELECT {{hostof "f"}}CASE f.event WHEN 'tcp_rcv_est' THEN 'rcv' WHEN 'tcp_cong_state' THEN 'cong' WHEN 'new' THEN 'new' ELSE 'retrans' END AS event,
    {{hex "f.sock"}} AS sock, {{div "f.at_ns - s.start_ns" 1000}} AS time_us,
    CASE WHEN f.event IN ('tcp_rcv_est', 'tcp_cong_state') THEN coalesce(f.snd_cwnd, 0) END AS snd_cwnd,
    CASE WHEN f.event IN ('tcp_rcv_est', 'tcp_cong_state') THEN coalesce(f.snd_ssthresh, 0) END AS snd_ssthresh,
    CASE WHEN f.event = 'tcp_rcv_est' THEN coalesce(f.sk_sndbuf, 0) END AS sk_sndbuf, CASE WHEN f.event = 'tcp_rcv_est' THEN coalesce(f.sk_wmem_queued, 0) END AS sk_wmem_queued,
    f.saddr AS saddr, f.sport AS sport, f.daddr AS daddr, f.dport AS dport, CASE WHEN f.event = 'tcp_cong_state' THEN f.ca_state ELSE f.retrans_kind END AS kind
FROM facts AS f JOIN started AS s ON {{same "f" "s"}}1 = 1
ORDER BY {{byhost "f"}}f.ts_ns, f.cpu, f.seq, f.place

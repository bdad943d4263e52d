-- From the start of an IP connect until the program knows that it is over, by user stack and
-- process; part is failed_us for those that failed. A non-blocking connect is over with the
-- first poll, select or epoll_wait that returns its descriptor, or a further connect; without
-- sys_poll in the recording, with its handshake. Descriptors that were copied, inherited or
-- passed on are only followed by netrec analyze, and so are connects by io_uring.
WITH {{capture}},
{{template "lives.sql" events}}, {{template "handshakes.sql" "sys_connect"}}, polled AS (
    SELECT {{host}}max(CASE WHEN {{recorded "sys_poll"}} THEN 1 ELSE 0 END) AS polls
    FROM capture
    {{perhost}}
), calls AS (
    SELECT {{hostof "c"}}c.pid AS pid, c.fd AS fd, c.ts_ns AS ts_ns, c.cpu AS cpu, c.seq AS seq, c.dur_ns AS dur_ns, c.ret AS ret, c.comm AS comm, c.ustack AS ustack,
        h.ended_ns AS ended_ns, CASE WHEN h.end_state = 'CLOSE' THEN 1 ELSE 0 END AS refused, p.polls AS polls
    FROM steps AS c JOIN polled AS p ON {{same "c" "p"}}1 = 1
        LEFT JOIN handshakes AS h ON {{same "c" "h"}}c.sock = h.sock AND c.generation = h.generation AND c.attempt = h.attempt
    WHERE c.event = 'sys_connect' AND c.family IN ('inet', 'inet6') AND c.ret <> -114 AND c.dur_ns IS NOT NULL AND c.fd IS NOT NULL
), entries AS (
    SELECT {{host}}pid, epfd, ts_ns, cpu, seq, {{split "ready"}} AS entry
    FROM capture
    WHERE event = 'sys_poll' AND ret > 0 AND ready IS NOT NULL
), interest AS (
    -- What epoll gives back is the caller's data, which epoll_ctl tied to a descriptor.
    SELECT {{host}}pid, epfd, {{hex "epoll_data"}} AS data, ts_ns, cpu, seq, fd
    FROM capture
    WHERE event = 'sys_epoll_ctl' AND ret = 0 AND epoll_op IN ('ADD', 'MOD')
    UNION ALL
    SELECT {{host}}pid, epfd, {{match "entry" "^(0x[0-9a-f]+):"}} AS data, ts_ns, cpu, seq, NULL AS fd
    FROM entries
    WHERE epfd IS NOT NULL
), turns AS (
    SELECT *, count(fd) OVER (PARTITION BY {{host}}pid, epfd, data ORDER BY ts_ns, cpu, seq ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS turn
    FROM interest
), epolled AS (
    SELECT *, max(fd) OVER (PARTITION BY {{host}}pid, epfd, data, turn) AS ready_fd
    FROM turns
), story AS (
    SELECT {{host}}pid, fd, ts_ns, cpu, seq, 0 AS late, CASE WHEN ret = -115 THEN 'begins' ELSE 'returns' END AS what, dur_ns, ret, comm, ustack, ended_ns, refused
    FROM calls
    UNION ALL
    SELECT {{host}}pid, fd, greatest(ts_ns, ended_ns) AS ts_ns, cpu, seq, 1 AS late, 'known' AS what, 0 AS dur_ns, 0 AS ret, comm, ustack, ended_ns, refused
    FROM calls
    WHERE polls = 0 AND ret = -115 AND ended_ns IS NOT NULL
    UNION ALL
    SELECT {{host}}pid, {{parse "entry" "^([0-9]+):"}} AS fd, ts_ns, cpu, seq, 1 AS late, 'known' AS what, 0 AS dur_ns, 0 AS ret, '' AS comm, NULL AS ustack, NULL AS ended_ns, 0 AS refused
    FROM entries
    WHERE epfd IS NULL
    UNION ALL
    SELECT {{host}}pid, ready_fd AS fd, ts_ns, cpu, seq, 1 AS late, 'known' AS what, 0 AS dur_ns, 0 AS ret, '' AS comm, NULL AS ustack, NULL AS ended_ns, 0 AS refused
    FROM epolled
    WHERE fd IS NULL AND turn > 0
    UNION ALL
    SELECT {{host}}pid, fd, ts_ns, cpu, seq, 0 AS late, 'closes' AS what, dur_ns, 0 AS ret, '' AS comm, NULL AS ustack, NULL AS ended_ns, 0 AS refused
    FROM capture
    WHERE event = 'sys_close' AND sock <> 0
), ordered AS (
    SELECT *, max(CASE WHEN what = 'begins' THEN ts_ns END)
        OVER (PARTITION BY {{host}}pid, fd ORDER BY ts_ns, late, cpu, seq ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS begun_ns
    FROM story
    WHERE fd IS NOT NULL
), waits AS (
    -- close(2) may return when the number has been given to another socket.
    SELECT *, sum(CASE WHEN what IN ('begins', 'closes') THEN 1 ELSE 0 END)
        OVER (PARTITION BY {{host}}pid, fd ORDER BY ts_ns, late, cpu, seq ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS wait
    FROM ordered
    WHERE what <> 'closes' OR ts_ns - dur_ns >= coalesce(begun_ns, 0)
), ends AS (
    SELECT *, row_number() OVER wait AS nth_step, lead(what) OVER wait AS then_what, lead(ts_ns) OVER wait AS then_ns, lead(ret) OVER wait AS then_ret,
        max(CASE WHEN what = 'begins' THEN 1 ELSE 0 END) OVER (PARTITION BY {{host}}pid, fd, wait) AS waited
    FROM waits
    WINDOW wait AS (PARTITION BY {{host}}pid, fd, wait ORDER BY ts_ns, late, cpu, seq)
), samples AS (
    SELECT {{host}}CASE WHEN what = 'returns' AND ret < 0 OR what = 'begins' AND (refused = 1 AND ended_ns <= then_ns OR then_what = 'returns' AND then_ret < 0 AND then_ret <> -106)
        THEN 'failed_us' ELSE 'us' END AS part, ustack, comm, {{div "CASE WHEN what = 'begins' THEN then_ns ELSE ts_ns END - (ts_ns - dur_ns)" 1000}} AS v
    FROM ends
    WHERE what = 'begins' AND then_what IN ('known', 'returns') OR what = 'returns' AND ret <> -106 AND (waited = 0 OR nth_step > 2)
){{template "hist.sql" keys "part" "ustack" "comm"}}

-- Sessions of connected UDP sockets that began and ended in the recording: from connect
-- until the socket is gone or connected anew.
WITH {{capture}}, steps AS (
    SELECT {{host}}event, sock, netns, pid, comm, laddr, lport, raddr, rport, ts_ns, cpu, seq, dir, ret, msg_flags,
        CASE WHEN dir = 'send' THEN dest_addr ELSE peer_addr END AS to_addr, CASE WHEN dir = 'send' THEN dest_port ELSE peer_port END AS to_port,
        sum(CASE WHEN event = 'udp_msg' THEN 0 ELSE 1 END)
            OVER (PARTITION BY {{host}}sock ORDER BY ts_ns, cpu, seq ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS talk
    FROM capture
    WHERE sock <> 0 AND (event IN ('udp_msg', 'udp_gone') OR event = 'udp_connect' AND protocol = 'udp' AND ret = 0)
), traffic AS (
    SELECT {{host}}sock, talk,
        sum(CASE WHEN dir = 'send' AND ret > 0 THEN ret ELSE 0 END) AS tx_bytes,
        sum(CASE WHEN dir = 'recv' AND ret > 0 AND {{moved ""}} THEN ret ELSE 0 END) AS rx_bytes,
        sum(CASE WHEN dir = 'send' AND ret < 0 THEN 1 ELSE 0 END) AS failed_sends
    FROM steps
    WHERE event = 'udp_msg' AND rport <> 0 AND (coalesce(to_port, 0) = 0 OR to_port = rport AND to_addr = raddr)
    GROUP BY {{host}}sock, talk
), sessions AS (
    SELECT *, lead(ts_ns) OVER (PARTITION BY {{host}}sock ORDER BY ts_ns, cpu, seq) AS until_ns,
        row_number() OVER (PARTITION BY {{host}}sock ORDER BY ts_ns DESC, cpu DESC, seq DESC) AS left_over
    FROM steps
    WHERE event <> 'udp_msg'
)
SELECT {{hostof "s"}}s.pid AS pid, s.comm AS comm, s.laddr AS laddr, s.lport AS lport, s.raddr AS raddr, s.rport AS rport,
    coalesce(t.tx_bytes, 0) AS tx_bytes, coalesce(t.rx_bytes, 0) AS rx_bytes, {{div "s.until_ns - s.ts_ns" 1000000}} AS ms,
    s.until_ns - s.ts_ns AS life_ns, coalesce(t.failed_sends, 0) AS failed_sends, {{hex "s.sock"}} AS sock, s.netns AS netns
FROM sessions AS s LEFT JOIN traffic AS t ON {{same "s" "t"}}s.sock = t.sock AND s.talk = t.talk
WHERE s.event = 'udp_connect' AND s.left_over > 1
ORDER BY {{byhost "s"}}s.until_ns

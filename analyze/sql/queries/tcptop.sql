-- Connections that moved data, second by second, the twenty with most of each second. From the
-- sends and receives of TCP where they were recorded (tcp_msg), else from those of all sockets.
WITH {{capture}}, {{template "started.sql"}}, calls AS (
    SELECT {{host}}event, laddr, lport, raddr, rport, pid, comm, ts_ns, dir, ret, coalesce(msg_flags, 0) AS msg_flags, protocol,
        max(CASE WHEN event = 'tcp_msg' THEN 1 ELSE 0 END) OVER ({{each}}) AS by_function
    FROM capture
    WHERE sock <> 0 AND event IN ('tcp_msg', 'sock_io')
), moved AS (
    SELECT {{hostof "c"}}c.pid AS pid, c.comm AS comm, concat(coalesce(c.laddr, ''), ':', CAST(coalesce(c.lport, 0) AS {{text}})) AS local_end,
        concat(coalesce(c.raddr, ''), ':', CAST(coalesce(c.rport, 0) AS {{text}})) AS remote_end, c.dir AS dir, c.ret AS ret,
        s.start_ns + {{div "c.ts_ns - s.start_ns" 1000000000}} * 1000000000 AS second_ns
    FROM calls AS c JOIN started AS s ON {{same "c" "s"}}1 = 1
    WHERE (c.event = 'tcp_msg' OR c.by_function = 0 AND c.protocol = 'tcp') AND c.ret > 0 AND {{moved "c."}}
), sums AS (
    SELECT {{host}}pid, comm, local_end, remote_end, second_ns,
        sum(CASE WHEN dir = 'send' THEN 0 ELSE ret END) AS rx_bytes, sum(CASE WHEN dir = 'send' THEN ret ELSE 0 END) AS tx_bytes
    FROM moved
    GROUP BY {{host}}pid, comm, local_end, remote_end, second_ns
), ranked AS (
    SELECT {{host}}pid, comm, local_end, remote_end, second_ns, rx_bytes, tx_bytes,
        row_number() OVER (PARTITION BY {{host}}second_ns ORDER BY rx_bytes + tx_bytes DESC, pid, comm, local_end, remote_end) AS place
    FROM sums
)
SELECT {{host}}pid, comm, local_end AS laddr, remote_end AS raddr,
    {{div "rx_bytes" 1024}} AS rx_kb, {{div "tx_bytes" 1024}} AS tx_kb, rx_bytes, tx_bytes, second_ns AS ts_ns
FROM ranked
WHERE place <= 20
ORDER BY {{host}}second_ns, place

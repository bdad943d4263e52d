-- Connections that moved data, second by second, the twenty with most of each second. From the
-- sends and receives of TCP where they were recorded (tcp_msg), else from those of all sockets.
WITH {{capture}}, {{template "started.sql"}},
{{template "lives.sql" events}}, {{template "sockets.sql" ""}}, births AS (
    SELECT {{hostof "o"}}o.sock AS sock, o.laddr AS laddr, o.lport AS lport, o.raddr AS raddr, o.rport AS rport, min(l.first_ns) AS born_ns
    FROM sockets AS o JOIN lives AS l ON {{same "o" "l"}}o.sock = l.sock AND o.generation = l.generation
    GROUP BY {{byhost "o"}}o.sock, o.laddr, o.lport, o.raddr, o.rport
), calls AS (
    SELECT {{host}}event, sock, laddr, lport, raddr, rport, pid, comm, ts_ns, dir, ret, coalesce(msg_flags, 0) AS msg_flags, protocol,
        max(CASE WHEN event = 'tcp_msg' THEN 1 ELSE 0 END) OVER ({{each}}) AS by_function
    FROM capture
    WHERE sock <> 0 AND event IN ('tcp_msg', 'sock_io')
), moved AS (
    SELECT {{hostof "c"}}c.sock AS sock, c.laddr AS laddr, c.lport AS lport, c.raddr AS raddr, c.rport AS rport, c.pid AS pid, c.comm AS comm, c.ts_ns AS ts_ns,
        c.dir AS dir, c.ret AS ret, s.start_ns + {{div "c.ts_ns - s.start_ns" 1000000000}} * 1000000000 AS second_ns
    FROM calls AS c JOIN started AS s ON {{same "c" "s"}}1 = 1
    WHERE (c.event = 'tcp_msg' OR c.by_function = 0 AND c.protocol = 'tcp') AND c.ret > 0 AND (c.dir = 'send' OR {{and "c.msg_flags" 2}} = 0)
), sums AS (
    SELECT {{host}}sock, laddr, lport, raddr, rport, pid, comm, second_ns, min(ts_ns) AS used_ns,
        sum(CASE WHEN dir = 'send' THEN 0 ELSE ret END) AS rx_bytes, sum(CASE WHEN dir = 'send' THEN ret ELSE 0 END) AS tx_bytes
    FROM moved
    GROUP BY {{host}}sock, laddr, lport, raddr, rport, pid, comm, second_ns
), ranked AS (
    -- Among equals the older connection comes first.
    SELECT {{hostof "m"}}m.sock AS sock, m.laddr AS laddr, m.lport AS lport, m.raddr AS raddr, m.rport AS rport, m.pid AS pid, m.comm AS comm,
        m.second_ns AS second_ns, m.rx_bytes AS rx_bytes, m.tx_bytes AS tx_bytes,
        row_number() OVER (PARTITION BY {{byhost "m"}}m.second_ns ORDER BY m.rx_bytes + m.tx_bytes DESC, coalesce(b.born_ns, m.used_ns), m.comm, m.pid, m.sock) AS place
    FROM sums AS m LEFT JOIN births AS b ON {{same "m" "b"}}m.sock = b.sock AND m.laddr = b.laddr AND m.lport = b.lport AND m.raddr = b.raddr AND m.rport = b.rport
)
SELECT {{host}}pid, comm, concat(coalesce(laddr, ''), ':', CAST(coalesce(lport, 0) AS {{text}})) AS laddr,
    concat(coalesce(raddr, ''), ':', CAST(coalesce(rport, 0) AS {{text}})) AS raddr,
    {{div "rx_bytes" 1024}} AS rx_kb, {{div "tx_bytes" 1024}} AS tx_kb, rx_bytes, tx_bytes, second_ns AS ts_ns
FROM ranked
WHERE place <= 20
ORDER BY {{host}}second_ns, place

-- TCP sessions that began and ended in the recording: life from the first state, bytes of data
-- (the kernel's counters take the SYN of the end that connects and every FIN for a byte), the
-- process that owns the socket.
WITH {{capture}},
{{template "lives.sql" events}}, {{template "sockets.sql" ""}}, sessions AS (
    SELECT {{host}}sock, generation, ts_ns, closed_ns AS first_close_ns, old_state, new_state, bytes_acked, bytes_received, total_retrans, netns,
        1 - max(CASE WHEN old_state = 'LISTEN' THEN 1 ELSE 0 END) OVER life
            + CASE WHEN old_state = 'FIN_WAIT2' OR old_state IN ('CLOSING', 'LAST_ACK') AND coalesce(sk_err, 0) = 0 THEN 1 ELSE 0 END AS tx_signs,
        CASE WHEN {{and "coalesce(tcp_flags, 0)" 1}} = 1 OR old_state IN ('CLOSE_WAIT', 'CLOSING', 'LAST_ACK') THEN 1 ELSE 0 END AS rx_signs,
        min(CASE WHEN new_state IN ('SYN_SENT', 'SYN_RECV', 'ESTABLISHED') THEN ts_ns END) OVER life AS birth_ns,
        max(CASE WHEN new_state = 'ESTABLISHED' THEN ts_ns END) OVER life AS established_ns,
        CASE WHEN old_state <> lag(new_state) OVER steps THEN 1 ELSE 0 END AS leaps
    FROM lives
    WHERE event = 'tcp_state' AND born = 1 AND coalesce(protocol, '') IN ('', 'tcp')
    WINDOW life AS (PARTITION BY {{host}}sock, generation), steps AS (PARTITION BY {{host}}sock, generation ORDER BY ts_ns, cpu, seq)
), whole AS ( -- where rows were lost, a leap may lead from one connection to another
    SELECT *, max(leaps) OVER (PARTITION BY {{host}}sock, generation) AS leapt
    FROM sessions
)
SELECT {{hostof "s"}}o.pid AS pid, coalesce(o.comm, '') AS comm, o.laddr AS laddr, o.lport AS lport, o.raddr AS raddr, o.rport AS rport,
    CASE WHEN s.bytes_acked < s.tx_signs THEN 0 ELSE s.bytes_acked - s.tx_signs END AS tx_bytes,
    CASE WHEN s.bytes_received < s.rx_signs THEN 0 ELSE s.bytes_received - s.rx_signs END AS rx_bytes,
    {{div "s.ts_ns - s.birth_ns" 1000000}} AS ms, s.ts_ns - s.birth_ns AS life_ns,
    {{hex "s.sock"}} AS sock, s.generation AS generation, s.netns AS netns,
    {{div "s.established_ns - s.birth_ns" 1000}} AS handshake_us, s.total_retrans AS retransmits, s.ts_ns AS closed_ns
FROM whole AS s JOIN sockets AS o ON {{same "s" "o"}}s.sock = o.sock AND s.generation = o.generation
WHERE s.new_state = 'CLOSE' AND s.ts_ns = s.first_close_ns AND s.birth_ns IS NOT NULL AND s.leapt = 0
ORDER BY {{byhost "s"}}closed_ns

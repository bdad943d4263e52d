-- TCP sessions that began and ended in the recording: life from the first state, bytes as
-- the kernel counted them, the process that owns the socket.
WITH {{capture}},
{{template "lives.sql" events}}, {{template "sockets.sql" ""}}, sessions AS (
    SELECT {{host}}sock, generation, ts_ns, closed_ns AS first_close_ns, old_state, new_state, bytes_acked, bytes_received, total_retrans, netns,
        min(CASE WHEN new_state IN ('SYN_SENT', 'SYN_RECV', 'ESTABLISHED') THEN ts_ns END) OVER life AS birth_ns,
        max(CASE WHEN new_state = 'ESTABLISHED' THEN ts_ns END) OVER life AS established_ns
    FROM lives
    WHERE event = 'tcp_state' AND born = 1 AND coalesce(protocol, '') IN ('', 'tcp')
    WINDOW life AS (PARTITION BY {{host}}sock, generation)
)
SELECT {{hostof "s"}}o.pid AS pid, coalesce(o.comm, '') AS comm, o.laddr AS laddr, o.lport AS lport, o.raddr AS raddr, o.rport AS rport,
    s.bytes_acked AS tx_bytes, s.bytes_received AS rx_bytes, {{div "s.ts_ns - s.birth_ns" 1000000}} AS ms, s.ts_ns - s.birth_ns AS life_ns,
    {{hex "s.sock"}} AS sock, s.generation AS generation, s.netns AS netns,
    {{div "s.established_ns - s.birth_ns" 1000}} AS handshake_us, s.total_retrans AS retransmits, s.ts_ns AS closed_ns
FROM sessions AS s JOIN sockets AS o ON {{same "s" "o"}}s.sock = o.sock AND s.generation = o.generation
WHERE s.new_state = 'CLOSE' AND s.ts_ns = s.first_close_ns AND s.birth_ns IS NOT NULL
ORDER BY {{byhost "s"}}closed_ns

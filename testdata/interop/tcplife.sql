-- TCP sessions that ended, as netrec analyze FILE tcplife lists them. An address of
-- a socket is used again after it is freed, so a session is the states between one
-- CLOSE of the address and the next.
WITH states AS (
    SELECT *, count(*) FILTER (new_state = 'CLOSE')
        OVER (PARTITION BY netns, sock ORDER BY ts_ns ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS life
    FROM capture
    WHERE event = 'tcp_state'
), lives AS (
    SELECT netns, sock, life,
        min(ts_ns) FILTER (new_state IN ('SYN_SENT', 'SYN_RECV', 'ESTABLISHED')) AS birth,
        max(ts_ns) FILTER (new_state = 'CLOSE') AS closed_ns
    FROM states
    GROUP BY ALL
)
SELECT '0x' || lower(hex(sock)) AS sock, laddr, lport, raddr, rport,
    bytes_acked AS tx_bytes, bytes_received AS rx_bytes, total_retrans AS retransmits,
    closed_ns - birth AS life_ns, closed_ns
FROM states JOIN lives USING (netns, sock, life)
WHERE ts_ns = closed_ns AND new_state = 'CLOSE' AND birth IS NOT NULL

{{- /* Rows that say who a socket is, and those of the events given, with the number of the
life that the row belongs to (generation): the kernel uses addresses again. A life begins at
socket(2), at a change of state that only a new socket makes, when the one before is gone, in
another namespace, with another cookie, which is unique, or where changes of state have other
ports, since the rows between were lost. A child has its listener's cookie and ends until it
leaves LISTEN, a client no port of its own before SYN_SENT, and close(2) may return when its
address is used again. born is 1 if the beginning was seen. The rule is that of agg.Sockets. */ -}}
seen AS (
    SELECT *,
        CASE WHEN event = 'sys_socket' OR event = 'tcp_state'
            AND (old_state = 'CLOSE' AND new_state <> 'CLOSE' OR old_state = 'LISTEN' AND new_state NOT IN ('LISTEN', 'CLOSE')) THEN 1 ELSE 0 END AS starts,
        row_number() OVER address AS row_no,
        lag(netns) OVER address AS netns_before,
        max(CASE WHEN event = 'sys_socket' THEN ts_ns END) OVER earlier AS made_ns,
        max(CASE WHEN event = 'tcp_state' THEN ts_ns END) OVER earlier AS changed_ns,
        max(CASE WHEN event = 'udp_gone' THEN ts_ns END) OVER earlier AS gone_ns,
        max(CASE WHEN event NOT IN ('udp_gone', 'sys_close') THEN ts_ns END) OVER earlier AS used_ns
    FROM capture
    WHERE sock <> 0 AND event IN ('tcp_state', 'sys_connect', 'sys_accept', 'sys_close', 'sys_socket', 'sys_bind', 'udp_gone'{{.}})
    WINDOW address AS (PARTITION BY {{host}}sock ORDER BY ts_ns, cpu, seq),
        earlier AS (PARTITION BY {{host}}sock ORDER BY ts_ns, cpu, seq ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
), told AS (
    SELECT *, CASE WHEN row_no = 1 OR netns <> netns_before OR event = 'sys_socket'
        OR event <> 'sys_close' AND gone_ns >= coalesce(used_ns, 0) OR starts = 1 AND (made_ns IS NULL OR changed_ns > made_ns OR old_state = 'LISTEN') THEN 1 ELSE 0 END AS turns
    FROM seen
), spans AS (
    SELECT *, sum(turns) OVER (PARTITION BY {{host}}sock ORDER BY ts_ns, cpu, seq ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS span
    FROM told
), known AS (
    SELECT *, CASE WHEN coalesce(cookie, 0) = 0 OR event = 'tcp_state' AND old_state = 'LISTEN' AND new_state NOT IN ('LISTEN', 'CLOSE')
        OR event = 'sys_close' AND turns = 0 AND ts_ns - dur_ns < min(ts_ns) OVER (PARTITION BY {{host}}sock, span) THEN 0 ELSE 1 END AS sure_cookie,
        CASE WHEN event = 'tcp_state' AND old_state <> 'LISTEN' AND new_state <> 'SYN_SENT' AND lport > 0 AND rport > 0 THEN 1 ELSE 0 END AS sure_ends
    FROM spans
), begun AS (
    SELECT *, CASE WHEN turns = 1 OR sure_cookie = 1 AND row_number() OVER cookies > 1 AND cookie <> lag(cookie) OVER cookies
        OR sure_ends = 1 AND row_number() OVER ends > 1 AND (lport <> lag(lport) OVER ends OR rport <> lag(rport) OVER ends) THEN 1 ELSE 0 END AS begins
    FROM known
    WINDOW cookies AS (PARTITION BY {{host}}sock, span, sure_cookie ORDER BY ts_ns, cpu, seq),
        ends AS (PARTITION BY {{host}}sock, span, sure_ends ORDER BY ts_ns, cpu, seq)
), numbered AS (
    SELECT *, sum(begins) OVER (PARTITION BY {{host}}sock ORDER BY ts_ns, cpu, seq ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS generation
    FROM begun
), lives AS (
    SELECT *, max(begins * starts) OVER life AS born, min(ts_ns) OVER life AS first_ns,
        min(CASE WHEN event = 'tcp_state' AND new_state = 'CLOSE' THEN ts_ns END) OVER life AS closed_ns
    FROM numbered
    WINDOW life AS (PARTITION BY {{host}}sock, generation)
)
{{- /* no newline */ -}}

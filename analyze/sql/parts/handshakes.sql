{{- /* Rows of an event and changes of state with the number of the attempt to connect that they
belong to, and how attempts ended: a SYN is the beginning of each. returned_ns is when the next
connect(2) returned. */ -}}
steps AS (
    SELECT *, max(CASE WHEN event = 'tcp_state' THEN 1 ELSE 0 END) OVER ({{each}}) AS by_state, max(CASE WHEN event = '{{.}}' THEN 1 ELSE 0 END) OVER ({{each}}) AS by_event,
        sum(CASE WHEN event = 'tcp_state' AND new_state = 'SYN_SENT' THEN 1 ELSE 0 END)
            OVER (PARTITION BY {{host}}sock, generation ORDER BY ts_ns, cpu, seq ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS attempt,
        min(CASE WHEN event = 'sys_connect' THEN ts_ns END)
            OVER (PARTITION BY {{host}}sock, generation ORDER BY ts_ns, cpu, seq ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING) AS returned_ns
    FROM lives
    WHERE event IN ('{{.}}', 'sys_connect') OR event = 'tcp_state' AND coalesce(protocol, '') IN ('', 'tcp')
), outcomes AS (
    SELECT {{host}}sock, generation, attempt, ts_ns, new_state, coalesce(sk_err, 0) AS sk_err,
        CASE WHEN old_state IN ('SYN_SENT', 'SYN_RECV') AND new_state IN ('ESTABLISHED', 'CLOSE') THEN 1 ELSE 0 END AS ends
    FROM steps
    WHERE event = 'tcp_state'
), handshakes AS (
    SELECT {{host}}sock, generation, attempt, min(CASE WHEN new_state = 'SYN_SENT' THEN ts_ns END) AS began_ns, min(CASE WHEN ends = 1 THEN ts_ns END) AS ended_ns,
        {{first "new_state" "ends = 1"}} AS end_state, {{first "sk_err" "ends = 1"}} AS end_err
    FROM outcomes
    GROUP BY {{host}}sock, generation, attempt
)
{{- /* no newline */ -}}

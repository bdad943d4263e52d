{{- /* One row per life of a socket: its ends as they became known, and its owner, who is the
process of the row that is surest about it. A condition on these rows may be given. close(2)
may return when the address has another life already. A change to SYN_SENT may have the local
port of the connection before, and a connect that could not begin has its end from the call. */ -}}
judged AS (
    SELECT *,
        CASE WHEN event IN ('sys_connect', 'sys_accept') OR event = 'tcp_state' AND new_state IN ('SYN_SENT', 'LISTEN') THEN 4
            WHEN event = 'sock_io' THEN 3
            WHEN event = 'sys_socket' THEN 2
            WHEN event = 'sys_close' AND (begins = 1 OR ts_ns - dur_ns >= first_ns) OR event = 'tcp_state' AND new_state IN ('FIN_WAIT1', 'LAST_ACK') THEN 1
            ELSE 0 END AS sure
    FROM lives
    WHERE ctx IN ('task', 'unknown') AND pid <> 0
), owners AS (
    SELECT {{host}}sock, generation, pid, comm, row_number() OVER (PARTITION BY {{host}}sock, generation ORDER BY sure DESC, ts_ns, cpu, seq) AS nth
    FROM judged
    WHERE sure > 0{{with .}} AND {{.}}{{end}}
), ends AS (
    SELECT {{host}}sock, generation,
        coalesce({{first "laddr" "lport <> 0 AND coalesce(new_state, '') <> 'SYN_SENT' AND laddr NOT IN ('', '0.0.0.0', '::')"}},
            {{first "laddr" "lport <> 0 AND coalesce(new_state, '') <> 'SYN_SENT'"}}, {{first "laddr" "lport <> 0"}}, max(laddr)) AS laddr,
        coalesce({{first "lport" "lport <> 0 AND coalesce(new_state, '') <> 'SYN_SENT' AND laddr NOT IN ('', '0.0.0.0', '::')"}},
            {{first "lport" "lport <> 0 AND coalesce(new_state, '') <> 'SYN_SENT'"}}, {{first "lport" "lport <> 0"}}, max(lport)) AS lport,
        coalesce({{first "raddr" "rport <> 0 AND raddr NOT IN ('', '0.0.0.0', '::')"}}, {{first "raddr" "rport <> 0"}},
            {{first "dest_addr" "dest_port <> 0 AND event IN ('sys_connect', 'udp_connect')"}}, max(raddr)) AS raddr,
        coalesce({{first "rport" "rport <> 0 AND raddr NOT IN ('', '0.0.0.0', '::')"}}, {{first "rport" "rport <> 0"}},
            {{first "dest_port" "dest_port <> 0 AND event IN ('sys_connect', 'udp_connect')"}}, max(rport)) AS rport
    FROM lives
    WHERE (event <> 'tcp_state' OR old_state <> 'LISTEN' OR new_state IN ('LISTEN', 'CLOSE'))
        AND (event <> 'sys_close' OR begins = 1 OR ts_ns - coalesce(dur_ns, 0) >= first_ns)
    GROUP BY {{host}}sock, generation
), sockets AS (
    SELECT {{hostof "e"}}e.sock AS sock, e.generation AS generation, o.pid AS pid, o.comm AS comm,
        e.laddr AS laddr, e.lport AS lport, e.raddr AS raddr, e.rport AS rport
    FROM ends AS e LEFT JOIN owners AS o ON {{same "e" "o"}}e.sock = o.sock AND e.generation = o.generation AND o.nth = 1
)
{{- /* no newline */ -}}

-- TCP sessions that this host opens, by the change of state to SYN_SENT.
WITH {{capture}},
{{template "lives.sql" events}}, {{template "sockets.sql" ""}}
SELECT {{hostof "c"}}o.pid AS pid, o.comm AS comm, CASE WHEN o.raddr LIKE '%:%' THEN 6 ELSE 4 END AS ip, o.laddr AS saddr, nullif(o.lport, 0) AS lport, o.raddr AS daddr, o.rport AS dport,
    {{hex "c.sock"}} AS sock, c.generation AS generation, c.netns AS netns, c.ts_ns AS ts_ns
FROM lives AS c JOIN sockets AS o ON {{same "c" "o"}}c.sock = o.sock AND c.generation = o.generation
WHERE c.event = 'tcp_state' AND coalesce(c.protocol, '') IN ('', 'tcp') AND c.old_state = 'CLOSE' AND c.new_state = 'SYN_SENT'
ORDER BY {{byhost "c"}}ts_ns, c.cpu, c.seq

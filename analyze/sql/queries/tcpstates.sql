-- Changes of state of TCP sockets, with the time spent in the old state. The first row of a life
-- has none, which row_number tells: lag gives 0 there in ClickHouse, NULL elsewhere. Nor has a
-- row before which one was lost.
WITH {{capture}},
{{template "lives.sql" events}}, {{template "sockets.sql" ""}}, changes AS (
    SELECT {{host}}sock, generation, old_state, new_state, ts_ns, cpu, seq, lag(ts_ns) OVER life AS before_ns, lag(new_state) OVER life AS before_state, row_number() OVER life AS nth
    FROM lives
    WHERE event = 'tcp_state' AND coalesce(protocol, '') IN ('', 'tcp')
    WINDOW life AS (PARTITION BY {{host}}sock, generation ORDER BY ts_ns, cpu, seq)
)
SELECT {{hostof "c"}}{{hex "c.sock"}} AS sock, o.pid AS pid, coalesce(o.comm, '') AS comm, o.laddr AS laddr, o.lport AS lport, o.raddr AS raddr, o.rport AS rport, 
    c.old_state AS old_state, c.new_state AS new_state,
    CASE WHEN c.nth > 1 AND c.before_state = c.old_state THEN c.ts_ns - c.before_ns END AS old_state_ns, c.generation AS generation, c.ts_ns AS ts_ns
FROM changes AS c JOIN sockets AS o ON {{same "c" "o"}}c.sock = o.sock AND c.generation = o.generation
ORDER BY {{byhost "c"}}ts_ns, c.cpu, c.seq

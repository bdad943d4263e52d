-- Calls of bind(2) on TCP sockets: the port asked for, and the one it got.
WITH {{capture}}
SELECT {{host}}uid, pid, comm, CASE WHEN bind_addr LIKE '%:%' THEN 6 ELSE 4 END AS ip, bind_addr AS addr,
    CASE WHEN ret = 0 THEN lport ELSE bind_port END AS port, bind_port AS asked_port,
    {{letters "bind_opts" "bind_opt" "FTNRr"}} AS opts, CASE WHEN bind_opts IS NOT NULL THEN coalesce(bound_ifindex, 0) END AS bound_ifindex, ret, ts_ns, {{hex "sock"}} AS sock, netns
FROM capture
WHERE event = 'sys_bind' AND protocol = 'tcp'
ORDER BY {{host}}ts_ns, cpu, seq

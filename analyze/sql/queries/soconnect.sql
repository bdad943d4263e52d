-- Calls of connect(2) over IP: where to, how long the call took, what it returned.
WITH {{capture}}
SELECT {{host}}pid, comm AS process, {{number "family" "family"}} AS family, dest_addr AS address, dest_port AS port,
    {{div "dur_ns" 1000}} AS lat_us, CASE WHEN sock <> 0 THEN protocol END AS proto, ret, ts_ns
FROM capture
WHERE event = 'sys_connect' AND family IN ('inet', 'inet6')
ORDER BY {{host}}ts_ns, cpu, seq

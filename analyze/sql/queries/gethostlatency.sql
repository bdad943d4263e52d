-- Name lookups through the C library. Queries to port 53 by other ways are only in netrec
-- analyze.
WITH {{capture}}
SELECT {{host}}pid, comm, family, host, ret, found, h_errno, func, lib, dur_ns, ts_ns
FROM capture
WHERE event = 'dns_call'
ORDER BY {{host}}ts_ns, cpu, seq

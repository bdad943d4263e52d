-- Calls of UDP's send and receive functions per process.
WITH {{capture}}
SELECT {{host}}func, pid, comm, count(*) AS count
FROM capture
WHERE event = 'udp_msg'
GROUP BY {{host}}func, pid, comm
ORDER BY {{host}}count(*), func, pid, comm

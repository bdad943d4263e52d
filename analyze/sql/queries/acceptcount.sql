-- Calls of accept(2) per process.
WITH {{capture}}
SELECT {{host}}pid, comm, count(*) AS count
FROM capture
WHERE event = 'sys_accept'
GROUP BY {{host}}pid, comm
ORDER BY {{host}}count(*), pid, comm

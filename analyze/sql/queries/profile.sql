-- What the CPUs did, by stack and process.
WITH {{capture}}
SELECT {{host}}kstack, ustack, comm, pid, count(*) AS count
FROM capture
WHERE event = 'cpu_sample'
GROUP BY {{host}}kstack, ustack, comm, pid
ORDER BY {{host}}count(*), kstack, ustack, comm, pid

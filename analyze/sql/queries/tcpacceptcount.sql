-- Connections that accept handed out, per process; calls that found none have no socket.
WITH {{capture}}
SELECT {{host}}pid, comm, count(*) AS count
FROM capture
WHERE event = 'tcp_accept_fn' AND sock <> 0
GROUP BY {{host}}pid, comm
ORDER BY {{host}}count(*), pid, comm

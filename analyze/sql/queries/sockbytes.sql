-- Bytes that processes sent and received on sockets. MSG_PEEK (2) takes nothing.
WITH {{capture}}
SELECT {{host}}pid, comm, dir, sum(ret) AS count
FROM capture
WHERE event = 'sock_io' AND ret > 0 AND {{moved ""}}
GROUP BY {{host}}pid, comm, dir
ORDER BY {{host}}sum(ret), pid, comm, dir

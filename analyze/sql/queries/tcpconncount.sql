-- TCP connections that processes began, failed ones too.
WITH {{capture}}
SELECT {{host}}pid, comm, count(*) AS count
FROM capture
WHERE event = 'tcp_connect_fn'
GROUP BY {{host}}pid, comm
ORDER BY {{host}}count(*), pid, comm

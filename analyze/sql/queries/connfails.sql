-- Connects that failed. EINPROGRESS (115) is none: the handshake goes on.
WITH {{capture}}
SELECT {{host}}comm, -ret AS errno, count(*) AS count
FROM capture
WHERE event = 'sys_connect' AND ret < 0 AND ret <> -115
GROUP BY {{host}}comm, -ret
ORDER BY {{host}}count(*), comm, errno

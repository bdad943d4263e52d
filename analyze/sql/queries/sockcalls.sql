-- Calls that send and receive on sockets of every family, failed ones too, per process.
WITH {{capture}}, calls AS (
    SELECT {{host}}CASE WHEN dir = 'send' THEN 'sock_sendmsg' ELSE 'sock_recvmsg' END AS func, pid, comm
    FROM capture
    WHERE event = 'sock_io'
)
SELECT {{host}}func, pid, comm, count(*) AS count
FROM calls
GROUP BY {{host}}func, pid, comm
ORDER BY {{host}}count(*), func, pid, comm

-- Calls of UDP's send and receive functions per process.
-- From UDP's own functions where they were recorded (udp_msg), else from the socket layer that calls them.
WITH {{capture}}, calls AS (
    SELECT {{host}}event, dir, ret, msg_flags, func, family, pid, comm, max(CASE WHEN event = 'udp_msg' THEN 1 ELSE 0 END) OVER ({{each}}) AS by_function
    FROM capture
    WHERE event = 'udp_msg' OR event = 'sock_io' AND protocol = 'udp'
), named AS (
    SELECT {{host}}CASE WHEN event = 'udp_msg' THEN func WHEN family = 'inet6' THEN concat('udpv6_', CASE WHEN dir = 'send' THEN 'sendmsg' ELSE 'recvmsg' END)
        ELSE concat('udp_', CASE WHEN dir = 'send' THEN 'sendmsg' ELSE 'recvmsg' END) END AS func, pid, comm
    FROM calls
    WHERE event = 'udp_msg' OR by_function = 0
)
SELECT {{host}}func, pid, comm, count(*) AS count
FROM named
GROUP BY {{host}}func, pid, comm
ORDER BY {{host}}count(*), func, pid, comm

-- Calls of TCP's send and receive functions.
-- From TCP's own functions where they were recorded (tcp_msg), else from the socket layer that calls them.
WITH {{capture}}, calls AS (
    SELECT {{host}}event, dir, ret, msg_flags, func, max(CASE WHEN event = 'tcp_msg' THEN 1 ELSE 0 END) OVER ({{each}}) AS by_function
    FROM capture
    WHERE event = 'tcp_msg' OR event = 'sock_io' AND protocol = 'tcp'
), named AS (
    SELECT {{host}}CASE WHEN event = 'tcp_msg' THEN func WHEN dir = 'send' THEN 'tcp_sendmsg' ELSE 'tcp_recvmsg' END AS func
    FROM calls
    WHERE event = 'tcp_msg' OR by_function = 0
)
SELECT {{host}}func, count(*) AS count
FROM named
GROUP BY {{host}}func
ORDER BY {{host}}count(*), func

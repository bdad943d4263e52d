-- Sizes of TCP receives. MSG_PEEK (2) takes nothing. Errors are not sizes.
-- From TCP's own functions where they were recorded (tcp_msg), else from the socket layer that calls them.
WITH {{capture}}, calls AS (
    SELECT {{host}}event, dir, ret, msg_flags, max(CASE WHEN event = 'tcp_msg' THEN 1 ELSE 0 END) OVER ({{each}}) AS by_function
    FROM capture
    WHERE event = 'tcp_msg' OR event = 'sock_io' AND protocol = 'tcp'
), samples AS (
    SELECT {{host}}ret AS v
    FROM calls
    WHERE (event = 'tcp_msg' OR by_function = 0) AND dir = 'recv' AND ret >= 0 AND {{moved ""}}
){{template "hist.sql" keys}}

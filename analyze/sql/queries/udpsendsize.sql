-- Sizes of UDP sends. Errors are not sizes.
-- From UDP's own functions where they were recorded (udp_msg), else from the socket layer that calls them.
WITH {{capture}}, calls AS (
    SELECT {{host}}event, dir, ret, msg_flags, max(CASE WHEN event = 'udp_msg' THEN 1 ELSE 0 END) OVER ({{each}}) AS by_function
    FROM capture
    WHERE event = 'udp_msg' OR event = 'sock_io' AND protocol = 'udp'
), samples AS (
    SELECT {{host}}ret AS v
    FROM calls
    WHERE (event = 'udp_msg' OR by_function = 0) AND dir = 'send' AND ret >= 0
){{template "hist.sql" keys}}

-- Sizes of TCP receives. MSG_PEEK (2) takes nothing. Errors are not sizes.
WITH {{capture}}, samples AS (
    SELECT {{host}}ret AS v
    FROM capture
    WHERE event = 'tcp_msg' AND dir = 'recv' AND ret >= 0 AND {{moved ""}}
){{template "hist.sql" keys}}

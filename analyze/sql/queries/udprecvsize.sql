-- Sizes of UDP receives. MSG_PEEK (2) takes nothing. Errors are not sizes.
WITH {{capture}}, samples AS (
    SELECT {{host}}ret AS v
    FROM capture
    WHERE event = 'udp_msg' AND dir = 'recv' AND ret >= 0 AND {{and "coalesce(msg_flags, 0)" 2}} = 0
){{template "hist.sql" keys}}

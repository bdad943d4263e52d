-- Sizes of UDP sends. Errors are not sizes.
WITH {{capture}}, samples AS (
    SELECT {{host}}ret AS v
    FROM capture
    WHERE event = 'udp_msg' AND dir = 'send' AND ret >= 0
){{template "hist.sql" keys}}

-- Sizes of socket reads and writes per process. Errors are not sizes, and MSG_PEEK (2)
-- takes nothing.
WITH {{capture}}, samples AS (
    SELECT {{host}}CASE WHEN dir = 'send' THEN 'write_bytes' ELSE 'read_bytes' END AS part, comm, ret AS v
    FROM capture
    WHERE event = 'sock_io' AND ret >= 0 AND {{moved ""}}
){{template "hist.sql" keys "part" "comm"}}

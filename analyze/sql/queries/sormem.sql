-- How full receive buffers are: before reads (rmem_alloc), when segments arrive
-- (rmem_arrival), and their limits (rmem_limit).
WITH {{capture}}, samples AS (
    SELECT {{host}}'rmem_alloc' AS part, coalesce(rmem_entry_bytes, sk_rmem_alloc) AS v
    FROM capture
    WHERE event = 'sock_io' AND dir = 'recv' AND sk_rmem_alloc IS NOT NULL
    UNION ALL
    SELECT {{host}}'rmem_limit' AS part, coalesce(rcvbuf_entry_bytes, sk_rcvbuf, 0) AS v
    FROM capture
    WHERE event = 'sock_io' AND dir = 'recv' AND sk_rmem_alloc IS NOT NULL
    UNION ALL
    SELECT {{host}}'rmem_arrival' AS part, sk_rmem_alloc AS v
    FROM capture
    WHERE event = 'tcp_rcv_est' AND sk_rmem_alloc IS NOT NULL
){{template "hist.sql" keys "part"}}

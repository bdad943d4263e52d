-- Sizes of packets at the four places of the device layer. A packet that a driver
-- refuses (16, NETDEV_TX_BUSY) is sent again and counts then.
WITH {{capture}}, samples AS (
    SELECT {{host}}CASE event WHEN 'dev_gro_in' THEN 'nic_recv_bytes' WHEN 'dev_xmit' THEN 'nic_send_bytes'
        WHEN 'dev_recv' THEN 'recv_bytes' ELSE 'send_bytes' END AS part, len_bytes AS v
    FROM capture
    WHERE event IN ('dev_gro_in', 'dev_recv', 'dev_queue') OR event = 'dev_xmit' AND rc <> 16
){{template "hist.sql" keys "part"}}

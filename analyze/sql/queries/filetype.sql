-- Reads and writes through the kernel's file layer, by type of file.
WITH {{capture}}, calls AS (
    SELECT {{host}}CASE WHEN file_type IN ('socket', 'link', 'regular', 'block', 'directory', 'character', 'fifo')
        THEN file_type ELSE 'other' END AS type, func, comm
    FROM capture
    WHERE event = 'vfs_rw'
)
SELECT {{host}}type, func, comm, count(*) AS count
FROM calls
GROUP BY {{host}}type, func, comm
ORDER BY {{host}}count(*), type, func, comm

-- Sizes of read calls per process, as netrec analyze FILE socksize --stats has them in
-- its table read_bytes: errors are not sizes, and MSG_PEEK (2) takes nothing.
SELECT comm, count(*) AS count, sum(ret) // count(*) AS average, sum(ret) AS total, min(ret) AS min, max(ret) AS max
FROM capture
WHERE event = 'sock_io' AND dir = 'recv' AND ret >= 0 AND (msg_flags IS NULL OR msg_flags & 2 = 0)
GROUP BY comm

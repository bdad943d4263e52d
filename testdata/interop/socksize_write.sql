-- Sizes of write calls per process, as netrec analyze FILE socksize --stats has them in
-- its table write_bytes: errors are not sizes.
SELECT comm, count(*) AS count, sum(ret) // count(*) AS average, sum(ret) AS total, min(ret) AS min, max(ret) AS max
FROM capture
WHERE event = 'sock_io' AND dir = 'send' AND ret >= 0
GROUP BY comm
